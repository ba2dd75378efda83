"""Any observer beside any driver, in real repetitions: who is called when, and what goes wrong."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from measured.failures_support import descendants
from measured.repetitions import needs_iperf3, task

from copycost.config.cells import Cell
from copycost.config.settings import Settings
from copycost.errors import HostError, Unavailable
from copycost.hosts.program import Launch
from copycost.hosts.side import Side
from copycost.measure.drivers.protocol import Driver, MissedWindow, Setup, Traffic
from copycost.measure.repetition import Task, measure_repetition
from copycost.observers.kernel_counters import LossCounters
from copycost.observers.process_usage import ProcessUsage
from copycost.observers.protocol import WindowObserver

SETTINGS = Settings(warmup_s=0.02, duration_s=0.1, congestion_control="reno")
STEPS = (
    *("open", "prepare", "attach", "window_planned", "window_begins", "window_ends"),
    *("traffic_ends", "found"),
)


class Diary(WindowObserver):
    """Notes when it is called, and fails at one step if it shall."""

    name = "diary"

    def __init__(
        self, notes: list[str], own: str = "", fails: str = "", error: Exception | None = None
    ) -> None:
        self._notes = notes
        self._own = own
        self._fails = fails
        self._error = error

    def note(self, step: str) -> None:
        self._notes.append(f"{self._own}{step}")
        if step == self._fails and self._error is not None:
            raise self._error

    def around(self, party: str, launch: Launch) -> Launch:
        self.note(f"around {party}")
        return launch

    def attach(self, sides: Sequence[Side]) -> None:
        assert [side.name for side in sides] == ["sender", "receiver"]
        assert all(Path(f"/proc/{pid}").exists() for side in sides for pid in side.pids)
        self.note("attach")

    def window_planned(self, start_ns: int, end_ns: int) -> None:
        assert time.monotonic_ns() < start_ns < end_ns
        self.note("window_planned")

    def found(self) -> Any:  # noqa: ANN401 - JSON
        self.note("found")
        return {"notes": len(self._notes)}


for _step in ("open", "prepare", "window_begins", "window_ends", "traffic_ends", "close"):
    setattr(Diary, _step, lambda self, *_, step=_step: self.note(step))


@pytest.fixture(params=["two_copy", pytest.param("iperf3", marks=needs_iperf3)])
def way(request: pytest.FixtureRequest) -> str:
    """What sends: a program of ours, or one that knows nothing of us."""
    return str(request.param)


def planned(folder: Path, way: str, *observers: WindowObserver) -> Task:
    testbed = "veth" if os.geteuid() == 0 else "loopback"
    return task(folder, Cell("streams", testbed, way, 65536, 1), *observers, settings=SETTINGS)


def state() -> tuple[list[int], int, str]:
    """Return what a repetition may leave behind in this process."""
    n_fds = len(list(Path("/proc/self/fd").iterdir()))
    return descendants(os.getpid()), n_fds, str(Path("/proc/thread-self/ns/net").readlink())


def test_observers_are_called_in_the_order_that_is_documented(tmp_path: Path, way: str) -> None:
    notes: list[str] = []
    before = state()
    diaries = Diary(notes, "first "), Diary(notes, "second ")
    record = measure_repetition(planned(tmp_path, way, *diaries))
    assert record["status"] == "measured", record["reason"]
    # only programs that switch counters by themselves are started within something else
    around = [
        *("first around sender", "second around sender"),
        *("first around receiver", "second around receiver"),
    ]
    assert notes == [
        *("first open", "second open", "first prepare", "second prepare"),
        *(around if way == "two_copy" else ()),
        *("first attach", "second attach", "second window_planned", "first window_planned"),
        *("first window_begins", "second window_begins"),
        *("second window_ends", "first window_ends"),
        *("first traffic_ends", "second traffic_ends", "first found", "second found"),
        *("second close", "first close"),
    ]
    assert record["observed"]["diary"] == {"notes": notes.index("second found") + 1}
    assert state() == before


@pytest.mark.parametrize(
    ("way", "step", "kind"),
    [
        pytest.param("iperf3", "window_begins", HostError, marks=needs_iperf3),
        *(
            ("two_copy", step, kind)
            for step, kind in zip(STEPS, cycle((Unavailable, HostError, OSError)))
        ),
    ],
    indirect=["way"],
)
def test_an_observer_that_cannot_do_its_work_ends_the_repetition_and_leaves_nothing(
    tmp_path: Path, way: str, step: str, kind: type[HostError] | type[OSError]
) -> None:
    said = f"no {step} here"
    error = Unavailable(said, "do without it") if kind is Unavailable else kind(said)
    notes: list[str] = []
    before = state()
    diaries = Diary(notes, "other "), Diary(notes, fails=step, error=error)
    record = measure_repetition(planned(tmp_path, way, *diaries))
    assert record["status"] == ("skipped" if kind is Unavailable else "failed")
    assert record["reason"] == (said if kind is not OSError else f"OSError: {said}")
    assert record["remedy"]
    assert record["driver"] is record["window"] is None
    assert record["observed"] == {}
    assert notes[-2:] == ["close", "other close"]
    assert notes[notes.index(step) + 1 :].count("found") == 0
    assert state() == before


class Missing:
    """A driver that misses its first window."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._missed = False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._driver, name)

    @contextmanager
    def traffic(self, setup: Setup) -> Iterator[Traffic]:
        with self._driver.traffic(setup) as traffic:
            yield traffic
            if not self._missed:
                self._missed = True
                raise MissedWindow("nothing arrived in the window", "none")


def test_a_missed_window_leaves_nothing_to_the_next_one(tmp_path: Path) -> None:
    before = state()
    plan = planned(tmp_path, "two_copy", ProcessUsage(), LossCounters())
    record = measure_repetition(replace(plan, driver=Missing(plan.driver)))
    assert record["status"] == "measured", record["reason"]
    used = record["observed"]["usage"]["sender"]
    assert 0 < used["cpu_ns"] < used["window_ns"] < 10**9
    assert record["observed"]["datagrams"].keys() >= {"begin", "stopped", "end"}
    assert state() == before
