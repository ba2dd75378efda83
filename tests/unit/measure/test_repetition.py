"""A window that was missed is watched again, a few times."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock, call

import pytest

from copycost.measure import repetition
from copycost.measure.drivers.protocol import MissedWindow, UnexplainedEnd


@pytest.mark.parametrize(
    ("kind", "n_missed", "gives_up"),
    [
        (MissedWindow, 1, False),
        (MissedWindow, 3, False),
        (MissedWindow, 4, True),
        (UnexplainedEnd, 7, False),
        (UnexplainedEnd, 8, True),
    ],
)
def test_a_missed_window_is_watched_again_whoever_watches(
    monkeypatch: pytest.MonkeyPatch, kind: type[MissedWindow], n_missed: int, *, gives_up: bool
) -> None:
    missed = kind("nothing arrived in the window", "again")
    monkeypatch.setattr(repetition, "_watch", Mock(side_effect=[missed] * n_missed + [None]))
    watcher, setup = Mock(), SimpleNamespace(testbed=None)
    with pytest.raises(MissedWindow) if gives_up else nullcontext():
        repetition._watch_on_time(*cast("Any", ({}, None, setup, [watcher])))
    assert watcher.mock_calls == [call.close(), call.prepare(None)] * min(
        n_missed, kind.n_tries - 1
    )
