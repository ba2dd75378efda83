"""Any observer beside any driver, in real repetitions: who is called when, and what goes wrong."""

import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from measured.failures_support import RECEIVER, descendants, host_facts, programs_folder

from copycost.config.cells import Cell
from copycost.config.settings import Settings
from copycost.errors import HostError, Unavailable
from copycost.hosts.host import Program
from copycost.hosts.launch import CONTROL, Launch
from copycost.hosts.local import LocalHost
from copycost.hosts.side import Side, SideName
from copycost.measure.drivers.choice import driver_of
from copycost.measure.drivers.protocol import (
    Driver,
    MissedWindow,
    NoMeasurement,
    Payload,
    Phase,
    Setup,
    Verdict,
    Window,
)
from copycost.measure.repetition import Task, measure_repetition
from copycost.observers.loss_counters import LossCounters
from copycost.observers.process_usage import ProcessUsage
from copycost.observers.protocol import WindowObserver
from copycost.records.record import Record
from copycost.testbeds.testbed import Testbed

SETTINGS = Settings(warmup_s=0.02, duration_s=0.1, congestion_control="reno")
STEPS = (
    *("open", "prepare", "attach", "window_planned", "window_begins", "window_ends"),
    *("traffic_ends", "found"),
)

# a sender that says where it listens and sends until its control line is closed; a receiver that
# reads until the end of the stream and says how much that was
SENDER = """
import select, socket, sys
control = socket.socket(fileno=int(sys.argv[2]))
listener = socket.create_server((sys.argv[1], 0))
control.sendall(b"%d\\n" % listener.getsockname()[1])
stream = listener.accept()[0]
while not select.select([control], [], [], 0)[0]:
    stream.sendall(bytes(65536))
"""
READER = """
import socket, sys
stream = socket.create_connection((sys.argv[1], int(sys.argv[2])))
total = 0
while data := stream.recv(65536):
    total += len(data)
print(total)
"""


class Plain:
    """A driver of a few lines: one stream between two programs in Python."""

    name = "plain"
    reference: str | None = None

    def plan(self, setup: Setup) -> dict[str, Any]:
        return {}

    @contextmanager
    def traffic(self, setup: Setup) -> Iterator["PlainTraffic"]:
        programs: dict[SideName, Program] = {}
        address = setup.testbed.addresses[0]

        def start(side: SideName, code: str, *words: str, control: bool = False) -> None:
            launch = Launch((sys.executable, "-c", code, *words), sys.executable, control=control)
            programs[side] = setup.start(side, launch)

        try:
            start("sender", SENDER, address, CONTROL, control=True)
            port = None
            while port is None:
                setup.waiting.for_lines([programs["sender"]], [], time.monotonic() + 30.0)
                port = programs["sender"].read_line()
            start("receiver", READER, address, port)
            yield PlainTraffic(setup, programs)
        finally:
            for program in programs.values():
                program.end()
                program.close()


class PlainTraffic:
    """Its traffic."""

    sides_of_reference: Sequence[Side] = ()

    def __init__(self, setup: Setup, programs: Mapping[SideName, Program]) -> None:
        self._setup = setup
        self._programs = programs

    @property
    def sides(self) -> Sequence[Side]:
        hosts = self._setup.testbed.hosts
        return [Side(name, hosts[name], [program]) for name, program in self._programs.items()]

    def open_window(self, warmup_s: float, duration_s: float) -> Window:
        start_ns = self._setup.machine.clock_ns() + round(warmup_s * 1e9)
        return Window(start_ns, start_ns + round(duration_s * 1e9), kept=False)

    def watch_until(self, until_ns: int, next_phase: Phase) -> None:
        if self._setup.waiting.for_ends(self._programs.values(), until_ns / 1e9):
            raise NoMeasurement(Verdict("failed", f"it ended before the {next_phase}", "none"))

    def finish(self) -> Payload:
        self._programs["sender"].hang_up()
        assert self._programs["receiver"].wait(30.0) == 0
        return Payload({"name": "plain", "bytes": int(self._programs["receiver"].output())})


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

    def _note(self, step: str) -> None:
        self._notes.append(f"{self._own}{step}")
        if step == self._fails and self._error is not None:
            raise self._error

    def open(self, machine: LocalHost) -> None:
        self._note("open")

    def prepare(self, testbed: Testbed) -> None:
        self._note("prepare")

    def around(self, side: SideName, launch: Launch) -> Launch:
        self._note(f"around {side}")
        return launch

    def attach(self, sides: Sequence[Side]) -> None:
        assert [side.name for side in sides] == ["sender", "receiver"]
        assert all(Path(f"/proc/{pid}").exists() for side in sides for pid in side.pids)
        self._note("attach")

    def window_planned(self, start_ns: int, end_ns: int) -> None:
        assert time.monotonic_ns() < start_ns < end_ns
        self._note("window_planned")

    def window_begins(self) -> None:
        self._note("window_begins")

    def window_ends(self) -> None:
        self._note("window_ends")

    def traffic_ends(self, sides: Sequence[Side]) -> None:
        self._note("traffic_ends")

    def found(self) -> Any:  # noqa: ANN401 - JSON
        self._note("found")
        return {"notes": len(self._notes)}

    def close(self) -> None:
        self._note("close")


def ours() -> Driver:
    folder = programs_folder() / "bin"
    return driver_of("two_copy", folder / "sender_two_copy", folder / RECEIVER)


DRIVERS = {
    "programs": ours,
    "plain": Plain,
    "iperf3": partial(driver_of, "iperf3", None, None),
}


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> Driver:
    if request.param == "iperf3" and not shutil.which("iperf3"):
        pytest.skip("iperf3 is not installed")
    made: Driver = DRIVERS[request.param]()
    return made


def measured(
    folder: Path, driver: Driver, *observers: WindowObserver, perf: str | None = None
) -> Record:
    testbed = "veth" if os.geteuid() == 0 else "loopback"
    implementation = "iperf3" if driver.name == "iperf3" else "two_copy"
    cell = Cell("streams", testbed, implementation, 65536, 1)
    facts = host_facts(perf)
    # long enough for a busy host to run both sides, where it is asked what they used
    settings = replace(SETTINGS, duration_s=0.5) if perf else SETTINGS
    return measure_repetition(
        Task(cell, settings, facts, driver, observers, lock_path=folder / "lock")
    )


def state() -> tuple[list[int], int, str]:
    """Return what a repetition may leave behind in this process."""
    n_fds = len(list(Path("/proc/self/fd").iterdir()))
    return descendants(os.getpid()), n_fds, str(Path("/proc/thread-self/ns/net").readlink())


def test_observers_are_called_in_the_order_that_is_documented(
    tmp_path: Path, driver: Driver
) -> None:
    notes: list[str] = []
    before = state()
    record = measured(tmp_path, driver, Diary(notes, "first "), Diary(notes, "second "))
    assert record["status"] == "measured", record["reason"]
    # only programs that switch counters by themselves are started within something else
    around = [
        *("first around sender", "second around sender"),
        *("first around receiver", "second around receiver"),
    ]
    assert notes == [
        *("first open", "second open", "first prepare", "second prepare"),
        *(around if driver.name == "programs" else ()),
        *("first attach", "second attach", "second window_planned", "first window_planned"),
        *("first window_begins", "second window_begins"),
        *("second window_ends", "first window_ends"),
        *("first traffic_ends", "second traffic_ends", "first found", "second found"),
        *("second close", "first close"),
    ]
    assert record["observed"]["diary"] == {"notes": notes.index("second found") + 1}
    assert state() == before


@pytest.mark.parametrize(
    ("driver", "step", "kind"),
    [
        ("iperf3", "window_begins", HostError),
        *(("programs", step, kind) for step, kind in zip(STEPS, cycle((Unavailable, HostError)))),
        *(
            ("plain", step, kind)
            for step, kind in zip(STEPS, cycle((HostError, Unavailable, OSError)))
        ),
    ],
    indirect=["driver"],
)
def test_an_observer_that_cannot_do_its_work_ends_the_repetition_and_leaves_nothing(
    tmp_path: Path, driver: Driver, step: str, kind: type[HostError] | type[OSError]
) -> None:
    said = f"no {step} here"
    error = Unavailable(said, "do without it") if kind is Unavailable else kind(said)
    notes: list[str] = []
    before = state()
    record = measured(
        tmp_path, driver, Diary(notes, "other "), Diary(notes, fails=step, error=error)
    )
    assert record["status"] == ("skipped" if kind is Unavailable else "failed")
    assert record["reason"] == (said if kind is not OSError else f"OSError: {said}")
    assert record["remedy"]
    assert record["driver"] is record["window"] is None
    assert record["observed"] == {}
    assert notes[-2:] == ["close", "other close"]
    assert notes[notes.index(step) + 1 :].count("found") == 0
    assert state() == before


@pytest.mark.needs_root
@pytest.mark.needs_perf
def test_perf_is_attached_to_a_driver_that_it_does_not_know(tmp_path: Path) -> None:
    record = measured(tmp_path, Plain(), perf=shutil.which("perf"))
    assert record["status"] == "measured", record["reason"]
    assert record["driver"] is not None
    assert record["driver"]["bytes"] > 0
    for side in ("sender", "receiver"):
        counted = record["observed"]["perf_stat"][side]
        assert counted["status"] == "counted", counted["reason"]
        assert counted["events"]["task_clock_ns"]["value"] > 0


def test_what_a_driver_says_of_its_traffic_is_the_reason(tmp_path: Path) -> None:
    class Killer(WindowObserver):
        name = "killer"

        def attach(self, sides: Sequence[Side]) -> None:
            for side in sides:
                side.host.signal(side.pids, 9)

    record = measured(tmp_path, Plain(), Killer())
    assert (record["status"], record["reason"]) == ("failed", "it ended before the window")


class Missing(Plain):
    """Misses its first window."""

    def __init__(self) -> None:
        self._missed = False

    @contextmanager
    def traffic(self, setup: Setup) -> Iterator[PlainTraffic]:
        with super().traffic(setup) as traffic:
            yield traffic
            if not self._missed:
                self._missed = True
                raise MissedWindow(Verdict("failed", "nothing arrived in the window", "none"))


def test_a_missed_window_leaves_nothing_to_the_next_one(tmp_path: Path) -> None:
    before = state()
    record = measured(tmp_path, Missing(), ProcessUsage(), LossCounters())
    assert record["status"] == "measured", record["reason"]
    used = record["observed"]["usage"]["sender"]
    assert 0 < used["cpu_ns"] < used["window_ns"] < 10**9
    assert record["observed"]["datagrams"].keys() >= {"begin", "stopped", "end"}
    assert state() == before
