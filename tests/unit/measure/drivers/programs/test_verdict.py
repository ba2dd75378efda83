"""Why a repetition failed or its window is no measurement, and what helps."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sample_records import sample_record
from setups import HOST
from unit.hosts.places import running

from copycost.config.cells import Cell
from copycost.errors import AttemptFailed, HostError
from copycost.hosts.host import Program
from copycost.hosts.program import Launch
from copycost.hosts.side import SideName
from copycost.measure.drivers.programs.conversation import (
    RunningSide,
    SideEnded,
    SideSilent,
    end_sides,
)
from copycost.measure.drivers.programs.driver import _report_of
from copycost.measure.drivers.programs.verdict import (
    judge,
    odd_numbers,
    own_disturbances,
    require_traffic,
    require_windows,
    unexplained,
)
from copycost.measure.drivers.protocol import AGAIN, MissedWindow

MS = 10**6
PLANNED = {"planned_start_ns": 1000 * MS, "planned_end_ns": 1200 * MS,
           "start_ns": 1000 * MS, "end_ns": 1200 * MS,
           "perf_enable_ns": None, "perf_disable_ns": None}  # fmt: skip


def window(**more: int) -> dict[str, Any]:
    return {"window": {**PLANNED, **more}}


@pytest.mark.parametrize(
    "late",
    [
        # as 64 threads on two CPUs had it: perf counted 560 ms, the bytes were those of 0.3 ms
        {"start_ns": 1561 * MS, "end_ns": 1561 * MS + 300_000},
        {"end_ns": 1301 * MS},
        {"perf_disable_ns": 134 * MS},
    ],
)
def test_a_window_of_which_less_than_half_is_left_is_no_measurement(late: dict[str, int]) -> None:
    with pytest.raises(MissedWindow, match="the receiver's window came"):
        require_windows({"sender": window(), "receiver": window(**late)})
    little = window(start_ns=1090 * MS, end_ns=1290 * MS, perf_disable_ns=9 * MS)
    require_windows({"sender": little, "receiver": window()})


@pytest.mark.parametrize(
    ("samples", "round_trips", "late", "lost", "codes"),
    [
        (1000, None, {}, 0, []),
        (99, None, {"start_ns": 1020 * MS}, 0, ["window_edge_late", "few_messages"]),
        # of round trips their own samples must be enough
        (0, 5000, {}, 0, []),
        (0, 7, {}, 3, ["few_messages", "sink_loss"]),
        # perf in an emulated guest, of which its counts still stand for the window
        (1000, None, {"start_ns": 1006 * MS, "perf_enable_ns": 6 * MS}, 0, []),
        (1000, None, {"start_ns": 1009 * MS, "perf_enable_ns": 6 * MS}, 0, ["window_edge_late"]),
        (1000, None, {"start_ns": 1012 * MS, "perf_enable_ns": 12 * MS}, 0, ["window_edge_late"]),
        (1000, None, {"end_ns": 1205 * MS}, 0, ["window_edge_late"]),
    ],
)
def test_lateness_few_samples_and_losses_before_the_sink_are_named(
    samples: int, round_trips: int | None, late: dict[str, int], lost: int, codes: list[str]
) -> None:
    round_trip = None if round_trips is None else {"samples": round_trips}
    sender = {**window(), "service_time": {"samples": samples}, "round_trip": round_trip}
    sink = {"sent_datagrams": 1000, "lost_before_hook": lost}
    found = own_disturbances(sender, window(**late), sink)
    assert [warning["code"] for warning in found] == codes


def changed(strategy: str = "one_copy", *, messages: int = 0, cpu_ns: int = 0) -> list[str]:
    cell = Cell("streams", "veth", strategy, 65536, 1)
    record = sample_record(strategy)
    sender = record["driver"]["sender"]
    sender["in_window"]["messages"] += messages
    sender["process"]["cpu_ns"] += cpu_ns
    sides = {name: record["driver"][name] for name in ("sender", "receiver")}
    return [one["detail"] for one in odd_numbers(cell, cast("Any", sides))]


def test_numbers_that_were_read_at_two_moments_are_told() -> None:
    assert changed() == []
    assert changed(messages=-2) == [], "what is under way is counted in bytes only"
    assert changed(messages=-5) == ["19995 messages of 65536 bytes are 1310720000 bytes"]
    assert changed(cpu_ns=400_000_000) == [
        "the sender used 1300.0 ms of CPU time, and its CPUs had 1000.0 ms"
    ]
    assert changed("uring_send", cpu_ns=400_000_000) == [], "the kernel has threads for it"


WINDOW_NS = 10**9


def side(in_window: int, total: int, n_threads: int = 1) -> dict[str, Any]:
    return {
        "window": {"start_ns": 0, "half_ns": WINDOW_NS // 2, "end_ns": WINDOW_NS},
        "in_window": {"bytes": in_window},
        "total": {"bytes": total},
        "threads": [{}] * n_threads,
    }


def test_a_window_in_which_nothing_arrives_is_no_measurement() -> None:
    # as zero_copy has it with a send buffer of 1 KiB: each message waits for a delayed ACK
    with pytest.raises(MissedWindow, match="nothing arrived in the window of 1 s"):
        require_traffic({"sender": side(65536, 10**6), "receiver": side(0, 10**6)}, 0)
    require_traffic({"sender": side(1, 1)}, 0)  # sink: nobody receives
    # null, which sends nothing at all
    require_traffic({"sender": side(0, 0), "receiver": side(0, 0)}, 0)


@pytest.mark.parametrize(
    ("n_made", "n_threads", "first_half", "kept_up"),
    [
        (940, 1, 0.5, False),
        (1880, 2, 0.5, False),
        (960, 1, 0.5, True),
        (1004, 1, 0.5, True),
        # a host that stops for a moment makes no queue that grows
        (900, 1, 500 / 900, True),
        (900, 1, 400 / 900, True),
    ],
)
def test_requests_that_fall_behind_are_no_measurement(
    n_made: int, n_threads: int, first_half: float, *, kept_up: bool
) -> None:
    sender = side(100 * n_made, 100 * n_made, n_threads) | {"options": {"msg_bytes": 100}}
    sender["in_window"] |= {"messages": n_made, "first_half_bytes": first_half * 100 * n_made}
    with (
        nullcontext() if kept_up else pytest.raises(MissedWindow, match=f"only {n_made} were made")
    ):
        require_traffic({"sender": sender, "receiver": side(n_made, n_made)}, 1_000_000)


@pytest.mark.parametrize("error", [HostError("no counters here"), SideSilent("no word")])
def test_whom_we_had_to_kill_is_not_what_went_wrong(error: HostError) -> None:
    with running("sleep", "60", control=True) as program:
        deaf = RunningSide("sender", program)
        end_sides([deaf], grace_s=0)
        assert judge(error, [deaf]).reason == str(error)


def ended(name: SideName, code: int, said: str) -> RunningSide:
    program = SimpleNamespace(
        launch=Launch((name,), name),
        exit_code=code,
        killed=False,
        errors=lambda: said,
        output=lambda: "",
    )
    return RunningSide(name, cast("Program", program))


@pytest.mark.parametrize(
    ("first", "said", "over_wire", "named"),
    [
        ("receiver", "net: connect to 192.0.2.1 port 4000: Connection timed out", True, True),
        ("sender", "greeting: 0 of 2 connections have greeted: Connection timed out", True, True),
        # some came through
        ("sender", "greeting: 1 of 2 connections have greeted: Connection timed out", True, False),
        ("receiver", "net: connect to 10.0.0.1 port 4000: Connection timed out", False, False),
    ],
)
def test_who_is_kept_out_over_a_wire_is_told_to_let_connections_in(
    first: SideName, said: str, over_wire: bool, named: bool
) -> None:
    other: SideName = "sender" if first == "receiver" else "receiver"
    sides = [ended(first, 1, f"{first}: {said}"), ended(other, 0, f"{other}: Broken pipe")]
    verdict = judge(SideEnded(first, "handshake"), sides, over_wire=over_wire)
    assert isinstance(verdict, AttemptFailed)
    assert said in verdict.reason
    assert verdict.remedy.startswith("let TCP connections") == named
    assert verdict.remedy.endswith(AGAIN)


@pytest.mark.parametrize(
    ("said", "again"),
    [
        ("connection 0: the sender closed it before the end of the window", True),
        ("pattern: Cannot allocate memory", False),
    ],
)
def test_an_end_without_a_reason_is_none_for_giving_up(said: str, again: bool) -> None:
    sides = []
    for name, script in (
        ("sender", "sleep 60"),
        ("receiver", f"echo 'receiver: {said}' >&2; exit 1"),
    ):
        launch = Launch(("env", "sh", "-c", script), "sh", control=True)  # env in the place of perf
        sides.append(RunningSide(name, HOST.start(launch)))
    sides[1].program.wait(60)
    end_sides(sides, grace_s=0)
    assert unexplained(sides) is again
    for side in sides:
        side.program.close()


def test_an_end_without_a_result_is_measured_again() -> None:
    with pytest.raises(MissedWindow):
        _report_of(ended("sender", 0, ""))
