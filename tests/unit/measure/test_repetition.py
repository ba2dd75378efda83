"""Measuring one repetition: by hand, and again where its window was missed."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock, call

import pytest

from copycost.measure import repetition
from copycost.measure.__main__ import main
from copycost.measure.drivers.protocol import MissedWindow, UnexplainedEnd


@pytest.mark.parametrize(
    ("kind", "n_missed", "gives_up"),
    [
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


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("--msg-bytes 64KB", "got '64KB', must be a size such as"),
        ("--msg-bytes 0", "got 0, must be a number, 1 or more"),
        ("--working-set 0", "got 0, must be a number, 1 or more"),
        ("--testbed moon", "invalid choice: 'moon'"),
        ("--threads 0", "got 0, must be a number, 1 or more"),
        ("--interval -1", "got -1, must be a number, 0 or more"),
        ("--warmup inf", "got inf, must be a number, 0 or more"),
        ("--duration 0", "got 0, must be a number, 0.001 or more"),
        ("--duration nan", "got nan, must be a number, 0.001 or more"),
        ("--io-timeout nan", "got nan, must be a number, 0.001 or more"),
        (None, "required: implementation"),
    ],
)
def test_bad_usage_is_exit_code_2(
    wrong: str | None, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["one_copy", *wrong.split()] if wrong else [])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert "usage: python -m copycost.measure" in told
    assert said in told


def test_missing_host_facts_are_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["one_copy", "--host", str(tmp_path / "host.json")]) == 1
    assert "host.json" in capsys.readouterr().err
