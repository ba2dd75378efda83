"""What a job cannot use of what it measured it measures again, a few times, and then it failed."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sample_records import sample_record

from copycost.config.cells import Cell
from copycost.measure import repetition
from copycost.measure.drivers.protocol import MissedWindow, Verdict
from copycost.measure.usable import measure_usable
from copycost.observers.protocol import WindowObserver
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


class Watcher(WindowObserver):
    name = "watcher"

    def __init__(self) -> None:
        self.did: list[str] = []

    def prepare(self, testbed: object) -> None:
        self.did.append("prepare")

    def close(self) -> None:
        self.did.append("close")


@pytest.mark.parametrize(("n_missed", "gives_up"), [(1, False), (3, False), (4, True)])
def test_a_missed_window_is_watched_again_whoever_watches(
    monkeypatch: pytest.MonkeyPatch, n_missed: int, *, gives_up: bool
) -> None:
    missed = iter(range(n_missed))

    def watch(*_: object) -> None:
        if next(missed, None) is not None:
            raise MissedWindow(Verdict("failed", "nothing arrived in the window", "again"))

    monkeypatch.setattr(repetition, "_watch", watch)
    watcher = Watcher()
    task, setup = SimpleNamespace(observers=(watcher,)), SimpleNamespace(testbed=None)
    try:
        repetition._watch_on_time(*cast("Any", ({}, task, setup, [watcher])))
    except MissedWindow:
        assert gives_up
    else:
        assert not gives_up
    assert watcher.did == ["close", "prepare"] * min(n_missed, 3)
