"""What a job cannot use of what it measured it measures again, a few times, and then it failed."""

from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock, call

import pytest
from sample_records import sample_record

from copycost.config.cells import Cell
from copycost.measure import repetition
from copycost.measure.drivers.protocol import MissedWindow, UnexplainedEnd, Verdict
from copycost.measure.usable import measure_usable
from copycost.records.derive import derive_row
from copycost.records.reading import REPETITIONS
from copycost.records.record import Record, read_record


def damaged(how: str = "more than was sent") -> dict[str, Any]:
    record = sample_record()
    match how:
        case "more than was sent":
            record["driver"]["receiver"]["total"]["bytes"] *= 3
        case "outside of the schema":
            record["observed"]["perf_stat"]["sender"]["events"]["cycles"]["value"] = "many"
        case "no number":
            record["lock_wait_s"] = float("nan")
    return record


def measured(tmp_path: Path, *records: dict[str, Any]) -> tuple[Record, Iterator[dict[str, Any]]]:
    path = tmp_path / Cell("streams", **records[0]["cell"]).path
    left = iter(records)
    measure = partial(next, left)
    record = measure_usable(path, cast("Any", measure), derive_row, REPETITIONS)
    assert read_record(path) == record
    return record, left


@pytest.mark.parametrize("how", ["more than was sent", "outside of the schema", "no number"])
def test_what_cannot_be_used_is_measured_again(tmp_path: Path, how: str) -> None:
    record, left = measured(tmp_path, damaged(how), sample_record(), sample_record())
    assert record["status"] == "measured"
    assert len(list(left)) == 1, "what can be used is not measured again"


def test_what_never_can_be_used_is_a_failed_repetition(tmp_path: Path) -> None:
    record, left = measured(tmp_path, *(damaged() for _ in range(5)))
    assert record["status"] == "failed"
    assert "3 tries gave nothing of use: 4718592000 bytes were" in str(record["reason"])
    assert (record["driver"], record["host_digest"]) == (None, sample_record()["host_digest"])
    assert len(list(left)) == 2


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
    missed = kind(Verdict("failed", "nothing arrived in the window", "again"))
    monkeypatch.setattr(repetition, "_watch", Mock(side_effect=[missed] * n_missed + [None]))
    watcher, setup = Mock(), SimpleNamespace(testbed=None)
    with pytest.raises(MissedWindow) if gives_up else nullcontext():
        repetition._watch_on_time(*cast("Any", ({}, None, setup, [watcher])))
    assert watcher.mock_calls == [call.close(), call.prepare(None)] * min(
        n_missed, kind.n_tries - 1
    )
