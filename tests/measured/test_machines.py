"""Sides that run on other machines, with clocks of their own: every study, end to end.

An agent serves a network namespace as if it were a machine, in a time namespace that is ahead by a
day; a relay can delay what goes to it and cut it off.
"""

import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from measured import repetitions
from measured.failures_support import host_facts
from measured.repetitions import FACTS, Found, attempted, needs_iperf3, task
from unit.hosts.places import agent_process

from copycost.config.cells import Cell
from copycost.errors import Unavailable
from copycost.hosts.cgroup_hierarchy import find_hierarchy
from copycost.hosts.host import Host
from copycost.hosts.local import LocalHost
from copycost.hosts.remote.host import RemoteHost
from copycost.hosts.side import SIDES, Side, SideName
from copycost.hosts.window_edges import ClockReading
from copycost.measure import repetition
from copycost.observers.protocol import WindowObserver
from copycost.records.derive import derive_row
from copycost.records.record import check_record, host_digest
from copycost.studies.cpu_budget.records import measure_budget
from copycost.studies.cpu_budget.records import row_of as budget_row
from copycost.studies.profile.repetition import profile_repetition
from copycost.testbeds import veth_pair
from copycost.testbeds.testbed import Testbed

pytestmark = pytest.mark.needs_root

AHEAD_S = 86_400
AHEAD = ("unshare", "--time", "--monotonic", str(AHEAD_S), "--fork", "--kill-child")
STREAM = Cell("streams", "veth", "two_copy", 65536, 2)
AWAY: list[tuple[SideName, ...]] = [("receiver",), ("sender",), ("sender", "receiver")]
PEER = {**FACTS, "name": "the other machine"}


class Machines:
    """Where the sides of the testbeds `veth` and `veth_udp` run, for the time of a test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hosts: dict[SideName, Host] = {}
        self.agents: dict[SideName, subprocess.Popen[bytes]] = {}

    @contextmanager
    def build(
        self, kind: str, away: tuple[SideName, ...], machine: LocalHost, mtu_bytes: int | None
    ) -> Iterator[Testbed]:
        with ExitStack() as stack:
            pair = stack.enter_context(
                veth_pair.veth_pair(machine, mtu_bytes, static_neighbours=True)
            )
            testbed = pair.as_testbed(kind)
            hosts: dict[SideName, Host] = dict(testbed.hosts)
            for name, namespace in zip(SIDES, pair.hosts, strict=True):
                if name in away:
                    folder = self.folder / name
                    folder.mkdir(exist_ok=True)
                    with namespace.inside():
                        agent, stream = stack.enter_context(agent_process(folder, *AHEAD))
                    self.agents[name] = agent
                    hosts[name] = stack.enter_context(
                        RemoteHost(stream, stream, f"the {name}'s machine", 10.0)
                    )
            self.hosts = hosts
            yield replace(testbed, hosts=hosts)


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Machines]:
    """Return what has sides run on other machines."""
    if subprocess.run([*AHEAD, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no time namespace can be made here")
    made = Machines(tmp_path)

    def put_away(*away: SideName) -> Machines:
        def build(kind: str, machine: LocalHost, *, page_segments: bool) -> Any:  # noqa: ANN401
            mtu_bytes = veth_pair.LARGEST_MTU_BYTES if kind == "veth_udp" else None
            return made.build(kind, away, machine, mtu_bytes)

        monkeypatch.setattr(veth_pair, "build", build)
        monkeypatch.setattr(repetition, "away_on", lambda _: away)
        return made

    return put_away


def measured(folder: Path, cell: Cell, **more: Any) -> Found:  # noqa: ANN401
    return repetitions.measured(folder, cell, peer=PEER, **more)


def require_clocks(record: Found, away: tuple[SideName, ...]) -> None:
    """Check that each side was measured in the clock of its machine."""
    for side, machine in record["testbed"]["machines"].items():
        kind, facts, offset_s = ("ssh", PEER, AHEAD_S) if side in away else ("local", FACTS, 0)
        assert machine["kind"] == kind
        assert machine["facts_digest"] == host_digest(facts)
        unsure_ns = machine["clock_uncertainty_ns"]
        assert (unsure_ns > 0) == (side in away)
        assert abs(machine["clock_offset_ns"] - offset_s * 10**9) <= unsure_ns
    # in our own clock, whatever the receiver's is
    assert record["start_ns"] < record["window"]["start_ns"] < record["end_ns"]


@pytest.mark.parametrize("away", AWAY)
def test_streams_between_machines_are_measured_in_both_clocks(
    tmp_path: Path, machines: Callable[..., Machines], away: tuple[SideName, ...]
) -> None:
    machines(*away)
    record = measured(tmp_path, STREAM)
    derive_row(record)
    require_clocks(record, away)
    starts = {side: record["driver"][side]["window"]["start_ns"] for side in SIDES}
    behind_ns = starts["receiver"] - starts["sender"]
    expected_s = {("receiver",): AHEAD_S, ("sender",): -AHEAD_S}.get(away, 0)
    assert abs(behind_ns / 1e9 - expected_s) < 0.1
    kernel = record["observed"]["kernel"]["machines"]
    for side in SIDES:
        assert 0.3e9 < kernel[side]["at_ns"] < 2e9
        assert kernel[side]["busy_ns"] > 0
    row = derive_row(record)
    n_bytes = {side: record["driver"][side]["in_window"]["bytes"] for side in SIDES}
    assert row["throughput_bits_per_s"] > 1e8
    assert n_bytes["receiver"] == pytest.approx(n_bytes["sender"], rel=0.5)


@needs_iperf3
@pytest.mark.parametrize(("implementation", "away"), [("iperf3", AWAY[0]), ("two_copy", AWAY[1])])
def test_a_limit_holds_on_the_machine_of_the_sender(
    tmp_path: Path,
    machines: Callable[..., Machines],
    implementation: str,
    away: tuple[SideName, ...],
) -> None:
    try:
        find_hierarchy()
    except Unavailable as error:
        pytest.skip(str(error))
    machines(*away)
    cell = Cell("cpu_budget", "veth", implementation, 65536, 1, limiter="cgroup", limit_percent=30)
    record = measured(tmp_path, cell, measure=measure_budget)
    require_clocks(record, away)
    row = budget_row(record, cell)
    assert 0 < row["sender_cpu_percent"] < 45
    # where the receiver does most of the work, iperf3's sender needs less than it may have
    held_back = record["observed"]["cpu_limit"]["throttled"]["throttled_periods"]
    assert held_back > 0 or row["sender_cpu_percent"] < 25
    assert row["receiver_cpu_percent"] > 0
    assert row["bits_per_s"] > 0


@pytest.mark.needs_perf
def test_each_machine_is_sampled_by_its_own_perf(
    tmp_path: Path, machines: Callable[..., Machines]
) -> None:
    machines("receiver")
    facts = host_facts(shutil.which("perf"))
    facts["perf"] |= {"version": "6", "paranoid": -1, "user_only": False, "remedy": None}
    peer = {**facts, "perf": {**facts["perf"], "version": "7"}}
    cell = Cell("profile", "veth", "two_copy", 65536, 1, rep=2)
    found = profile_repetition(task(tmp_path, cell, facts=facts, peer=peer), "auto", 999)
    record = check_record(found.record, "record")
    assert record["status"] == "measured", record["reason"]
    assert record["observed"]["sampling"]["perf_version"] == "6, 7"
    assert any("tcp_sendmsg" in stack for stack in found.stacks["sender"].weights)
    assert any("tcp_recvmsg" in stack for stack in found.stacks["receiver"].weights)
    for side in SIDES:
        counted = record["observed"]["perf_stat"][side]
        assert counted["status"] == "counted", counted["reason"]
        assert counted["events"]["task_clock_ns"]["value"] > 0


class AtStart(WindowObserver):
    """Does something as soon as the window has begun."""

    name = "at_start"

    def __init__(self, act: Callable[[Mapping[SideName, Side]], None]) -> None:
        self._act = act
        self._sides: dict[SideName, Side] = {}

    def attach(self, sides: Any) -> None:  # noqa: ANN401
        self._sides = {side.name: side for side in sides}

    def window_begins(self) -> None:
        self._act(self._sides)


def test_an_agent_that_dies_fails_the_repetition_and_leaves_nothing(
    tmp_path: Path, machines: Callable[..., Machines]
) -> None:
    made = machines("receiver")
    record = attempted(
        tmp_path, STREAM, AtStart(lambda _: made.agents["receiver"].kill()), peer=PEER
    )
    assert record["status"] == "failed"
    assert record["reason"] == (
        "the connection to the receiver's machine ended; see that it runs, then run again"
    )
    assert left_of(tmp_path) == []


def test_a_side_that_dies_there_is_named_as_it_is_here(
    tmp_path: Path, machines: Callable[..., Machines]
) -> None:
    machines("receiver")
    record = attempted(
        tmp_path, STREAM, AtStart(lambda sides: sides["receiver"].programs[0].signal(9)), peer=PEER
    )
    assert record["status"] == "failed"
    assert record["reason"] == "the receiver was killed by SIGKILL during the window"
    assert left_of(tmp_path) == []


def test_a_clock_that_jumps_within_the_window_fails_it(
    tmp_path: Path, machines: Callable[..., Machines], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = machines("receiver")

    def jump(_: object) -> None:
        host = made.hosts["receiver"]
        before = host.clock_offset_ns
        monkeypatch.setattr(host, "resync", lambda: ClockReading(before + 5_000_000, 1000))

    record = attempted(tmp_path, STREAM, AtStart(jump), peer=PEER)
    assert record["status"] == "failed"
    assert re.match(
        r"the clock of the receiver's machine went 5 ms away from ours, where the window is \d+ ms",
        str(record["reason"]),
    )


def test_a_repetition_takes_few_round_trips(
    tmp_path: Path, machines: Callable[..., Machines], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 1 ms each they shall cost less than 0.1 s."""
    machines("receiver")
    asked: list[str] = []
    real = RemoteHost.__init__

    def counting(self: RemoteHost, *words: Any, **named: Any) -> None:  # noqa: ANN401
        real(self, *words, **named)
        begin = self._connection.begin

        def counted(op: str, **fields: Any) -> int:  # noqa: ANN401
            asked.append(op)
            return begin(op, **fields)

        self._connection.begin = counted  # type: ignore[method-assign]

    monkeypatch.setattr(RemoteHost, "__init__", counting)
    measured(tmp_path, STREAM)
    assert len(asked) < 40, sorted(asked)


def left_of(folder: Path) -> list[str]:
    """Return the processes that were started from a folder and still run."""
    deadline_s = time.monotonic() + 5.0
    while True:
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if any(str(folder) in word for word in words):
                found.append(" ".join(words))
        if not found or time.monotonic() > deadline_s:
            return found
        time.sleep(0.05)


def test_one_cpu_cannot_be_shared_by_two_machines(
    tmp_path: Path, machines: Callable[..., Machines]
) -> None:
    machines("receiver")
    record = attempted(tmp_path, replace(STREAM, placement="same"), peer=PEER)
    assert record["status"] == "skipped"
    assert "cannot run on one CPU" in str(record["reason"])
