"""Studies that iperf3 or our own sender drives, for real: one repetition each, or a failure."""

import math
import re
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from measured.failures_support import host_facts
from measured.repetitions import (
    AtStart,
    Found,
    assert_told,
    attempted,
    measured,
    needs_iperf3,
    require_limits,
)

from copycost.config.cells import Cell
from copycost.config.settings import Settings
from copycost.hosts import local
from copycost.hosts.local import LocalHost
from copycost.hosts.processes import Usage, usage_of
from copycost.hosts.program import Launch, LocalProgram
from copycost.hosts.side import SideName
from copycost.hosts.window_edges import DoneHere
from copycost.measure.drivers.iperf3.tool import Iperf3Tool
from copycost.snakefile.describe_repetition import line_of
from copycost.studies.cpu_budget.records import measure_budget
from copycost.studies.cpu_budget.records import row_of as budget_row
from copycost.studies.datagrams.records import measure_datagrams
from copycost.studies.datagrams.records import row_of as datagram_row

SETTINGS = Settings(warmup_s=0.1, duration_s=0.5, congestion_control="reno")
BUDGET = Cell("cpu_budget", "loopback", "iperf3", 131072, 1, limiter="cgroup", limit_percent=30)
UNLIMITED = replace(BUDGET, limiter="cpulimit", limit_percent=100)
DATAGRAMS = Cell("datagrams", "veth_udp", "iperf3", 1000, 1)
MEASURE = {"cpu_budget": measure_budget, "datagrams": measure_datagrams}

# What a sender that may use 30 % stays below on a busy host too, though one without a limit may use
# all of a CPU: the kernel keeps a quota in every period; cpulimit waits for a CPU like everybody.
BOUND_PERCENT = {"cgroup": 45, "cpulimit": 80}


def attempt(folder: Path, cell: Cell, **more: Any) -> Found:  # noqa: ANN401
    return attempted(folder, cell, measure=MEASURE[cell.study], settings=SETTINGS, **more)


def measured_or_skipped(folder: Path, cell: Cell, **more: Any) -> Found:  # noqa: ANN401
    """Return a measured record, or skip where this host cannot limit a program."""
    record = attempt(folder, cell, **more)
    require_limits(record)
    return record


@pytest.mark.needs_root
@pytest.mark.parametrize(
    ("testbed", "way"),
    [
        pytest.param("veth_udp", "iperf3", marks=needs_iperf3),
        pytest.param("loopback_udp", "iperf3", marks=needs_iperf3),
        ("veth_udp", "two_copy"),
    ],
)
def test_every_datagram_is_accounted_for(tmp_path: Path, testbed: str, way: str) -> None:
    cell = replace(DATAGRAMS, testbed=testbed, implementation=way)
    for _ in range(4):  # on a busy host an iperf3 may end before it is looked at
        record = measured_or_skipped(tmp_path, cell)
        row = datagram_row(record, cell)
        if row["sender_ns"] > 0:
            break
    assert row["sender_ns"] > 0
    assert row["sent"] >= row["received"] > 0
    if way == "two_copy":
        # a goodbye that is said again on a busy host: nobody may be there to read that
        said_again = row["sent"] - record["driver"]["sender"]["total"]["datagrams"] - 1
        assert 0 <= row["lost_unaccounted"] <= said_again
        return
    assert row["drained"]
    if testbed == "veth_udp":  # nobody else is there
        assert row["lost_unaccounted"] == 0
        # iperf3 counts what it sent; the kernel, the greeting too
        assert row["kernel_sent"] - row["driver_sent"] == 1


@pytest.mark.needs_root
@pytest.mark.parametrize(
    ("way", "kind"),
    [
        pytest.param("iperf3", "cgroup", marks=needs_iperf3),
        ("two_copy", "cgroup"),
        ("two_copy", "cpulimit"),
    ],
)
def test_a_limited_sender_uses_no_more_than_it_was_offered(
    tmp_path: Path, way: str, kind: str
) -> None:
    cell = replace(BUDGET, implementation=way, limiter=kind)
    record = measured_or_skipped(tmp_path, cell)
    limit = record["observed"]["cpu_limit"]
    assert limit["held"]
    assert kind == "cpulimit" or limit["throttled"]["periods"] > 0
    late = [one["detail"] for one in record["warnings"] if one["code"] == "window_edge_late"]
    if kind == "cpulimit":  # of its own window a stopped sender cannot tell
        assert not [detail for detail in late if detail.startswith("an edge of the window")]
    row = budget_row(record, cell)
    # a stopped program sees the edges of its window late, which made this up to 3700 %
    assert 0 < row["sender_cpu_percent"] < BOUND_PERCENT[kind]
    assert not row["sender_waiting_percent"] < 0  # NaN where a thread has ended already
    assert row["bits_per_s"] > 0
    assert math.isnan(row["sent_bits_per_s"]) == (kind == "cpulimit")
    if way == "iperf3":  # the same bytes, in intervals that are not quite the window
        assert row["kernel_bits_per_s"] / 2 < row["bits_per_s"] < row["kernel_bits_per_s"] * 2
    else:
        assert row["congestion_control"] == "reno"
    assert "sender" in line_of(record)


@pytest.mark.needs_root
@pytest.mark.needs_perf
def test_perf_counts_a_sender_that_is_stopped_now_and_then(tmp_path: Path) -> None:
    cell = replace(BUDGET, implementation="two_copy", limiter="cpulimit", testbed="veth")
    facts = host_facts(shutil.which("perf"))
    record = measured_or_skipped(tmp_path, cell, facts=facts)
    for side in record["observed"]["perf_stat"].values():
        assert side["status"] == "counted", side["reason"]
        assert side["events"]["task_clock_ns"]["value"] > 0


def look_by(monkeypatch: pytest.MonkeyPatch, look: Callable[[Sequence[int]], Usage | None]) -> None:
    """Have programs looked at in another way at the edges of a window."""

    def usage_at_edges(_: LocalHost, pids: Sequence[int]) -> DoneHere[Usage | None]:
        return DoneHere([partial(look, pids)] * 2)

    monkeypatch.setattr(LocalHost, "usage_at_edges", usage_at_edges)


@pytest.fixture
def _late_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the programs gone when we look at them at the window's end."""
    looks: list[Sequence[int]] = []

    def too_late(pids: Sequence[int]) -> Usage | None:
        looks.append(pids)
        # there are looks at both sides at the window's begin
        return None if len(looks) > 2 else usage_of(pids)

    look_by(monkeypatch, too_late)


@pytest.mark.needs_root
@pytest.mark.usefixtures("_late_look")
def test_a_program_that_is_gone_when_we_look_has_told_its_cpu_time_itself(tmp_path: Path) -> None:
    cell = replace(DATAGRAMS, implementation="two_copy")
    record = measured_or_skipped(tmp_path, cell)
    assert record["observed"]["usage"] == {"sender": None, "receiver": None}
    row = datagram_row(record, cell)
    assert 0 < row["sender_cpu_percent"] <= 100
    assert 0 < row["receiver_cpu_percent"] <= 100


@needs_iperf3
@pytest.mark.usefixtures("_late_look")
def test_an_iperf3_that_is_gone_when_we_look_is_a_failed_record(tmp_path: Path) -> None:
    said = "the sender's processes had ended before the end of the window"
    assert_told(attempt(tmp_path, UNLIMITED), "failed", said)


@needs_iperf3
@pytest.mark.parametrize(("n_early", "status"), [(1, "measured"), (99, "failed")])
def test_a_look_at_other_times_than_the_windows_edges_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_early: int, status: str
) -> None:
    looks = Counter[tuple[int, ...]]()

    def too_early(pids: Sequence[int]) -> Usage:
        look = usage_of(pids)
        looks[tuple(pids)] += 1
        # each window has two sides of its own, with a look at each at its begin, and one at its end
        is_early = looks[tuple(pids)] == 2 and len(looks) <= 2 * n_early
        shift_ns = round(0.4e9 * SETTINGS.duration_s) if is_early else 0
        return replace(look, at_ns=look.at_ns - shift_ns)

    look_by(monkeypatch, too_early)
    record = attempt(tmp_path, UNLIMITED)
    assert record["status"] == status, record["reason"]
    said = r"the sender was watched for .* its machine was too busy"
    assert status == "measured" or re.match(said, str(record["reason"]))


@needs_iperf3
def test_a_client_begins_before_the_next_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts_ns: list[int] = []

    class Noting(LocalProgram):
        def __init__(self, launch: Launch, *more: Any) -> None:  # noqa: ANN401
            if "-c" in launch.words:
                starts_ns.append(time.monotonic_ns())
            super().__init__(launch, *more)

    monkeypatch.setattr(local, "LocalProgram", Noting)
    monkeypatch.setattr(Iperf3Tool, "pairs", lambda _, n_streams: (n_streams, 1))
    record = measured_or_skipped(tmp_path, replace(UNLIMITED, n_threads=3))
    began_ns = [pair["began_ns"] for pair in record["driver"]["pairs"]]
    assert len(starts_ns) == len(began_ns) == 3
    # noted late, it would shift the intervals that are taken for those of the window
    for began, next_start in zip(began_ns, starts_ns[1:], strict=False):
        assert began < next_start


@needs_iperf3
@pytest.mark.parametrize(("side", "role"), [("sender", "client"), ("receiver", "server")])
def test_a_crash_in_the_window_is_a_failed_record_that_names_it(
    tmp_path: Path, side: SideName, role: str
) -> None:
    crash = AtStart(lambda sides: sides[side].host.signal(sides[side].pids, signal.SIGSEGV))
    cell = replace(DATAGRAMS, testbed="loopback", msg_bytes=131072)
    record = attempted(tmp_path, cell, crash, settings=SETTINGS)
    said = f"the iperf3 {role} ended during the window (by SIGSEGV)"
    assert_told(record, "failed", said, " ")
    assert all(program.exit_code is not None for program in crash.sides[side].programs)


def test_no_process_shows_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes] = []

    def look(_: object) -> None:
        """Read what every user may read of all processes."""
        for name in ("cmdline", "environ"):
            for path in Path("/proc").glob(f"[0-9]*/{name}"):
                with suppress(OSError):  # it has ended, or is not ours
                    seen.append(path.read_bytes())

    token = "c0ffee0123456789"
    monkeypatch.setattr(
        "copycost.measure.drivers.programs.driver.secrets.token_hex", lambda n: token
    )
    measured(tmp_path, Cell("streams", "loopback", "two_copy", 65536, 1), AtStart(look))
    assert any(b"--msg-bytes" in line for line in seen)
    assert not any(token.encode() in line for line in seen)
