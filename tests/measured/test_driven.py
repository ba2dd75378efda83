"""Studies that iperf3 drives, with the real iperf3: one repetition each, and what can go wrong."""

import json
import math
import os
import shutil
import signal
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from copycost.config.driven import DrivenSettings
from copycost.drivers.iperf3.process import IperfProcess, Role, start_iperf3
from copycost.drivers.iperf3.processes import Iperf3Run
from copycost.drivers.iperf3.repetition import _keep_output
from copycost.studies.driven.record import check, read, write
from copycost.studies.driven.telling import line_of
from measured.failures_support import RECEIVER, host_facts, programs_folder

from copycost.config.cpu_budget import BudgetCell, BudgetSettings
from copycost.config.datagrams import DatagramCell
from copycost.drivers.iperf3 import processes, tool
from copycost.drivers.programs import ours
from copycost.hosts.cgroup_hierarchy import LimiterUnavailable, find_hierarchy
from copycost.hosts.process_usage import Usage, usage_of
from copycost.observers import cpu_limit as limiter
from copycost.studies.cpu_budget import repetition
from copycost.studies.cpu_budget.repetition import measure_budget
from copycost.studies.cpu_budget.table import row_of as budget_row
from copycost.studies.datagrams.repetition import measure_datagrams
from copycost.studies.datagrams.table import row_of as datagram_row

DATA = Path(__file__).parents[1] / "data" / "iperf3"
DATAGRAMS = DrivenSettings(warmup_s=0.1, duration_s=0.5, sender_cpus=None, receiver_cpus=None)
BUDGET = BudgetSettings(**asdict(DATAGRAMS), message_bytes=131072, congestion_control="reno")
NO_PERF = {"status": "missing", "reason": "perf was not found", "path": None, "events": {}}
HOST: dict[str, Any] = {"perf": NO_PERF, "kernel": {"irq_time_accounting": False}}

# What a sender that may use 30 % stays below on a busy host too, though one without a limit may use
# all of a CPU: the kernel keeps a quota in every period; cpulimit waits for a CPU like everybody.
BOUND_PERCENT = {"cgroup": 45, "cpulimit": 80}

needs_iperf3 = pytest.mark.skipif(not shutil.which("iperf3"), reason="iperf3 is not installed")


def budget_cell(limiter: str, limit_percent: int) -> BudgetCell:
    return BudgetCell(
        testbed="loopback",
        driver="iperf3",
        limiter=limiter,
        n_streams=1,
        limit_percent=limit_percent,
        rep=1,
    )


def budget(tmp_path: Path, limiter: str = "cgroup", limit_percent: int = 30) -> dict[str, Any]:
    cell = budget_cell(limiter, limit_percent)
    return check(measure_budget(cell, BUDGET, HOST, lock_path=tmp_path / "lock"), "record")


def datagrams(tmp_path: Path, testbed: str = "loopback") -> dict[str, Any]:
    cell = DatagramCell(testbed=testbed, driver="iperf3", datagram_bytes=1000, n_streams=1, rep=1)
    return check(measure_datagrams(cell, DATAGRAMS, HOST, lock_path=tmp_path / "lock"), "record")


@needs_iperf3
@pytest.mark.needs_root
def test_a_limited_sender_uses_no_more_than_it_was_offered(tmp_path: Path) -> None:
    try:
        find_hierarchy()
    except LimiterUnavailable as error:
        pytest.skip(str(error))
    record = budget(tmp_path)
    assert record["status"] == "measured", record["reason"]
    assert record["limiter"]["throttled"]["periods"] > 0
    row = budget_row(record, BudgetCell(**record["cell"]))
    assert 0 < row["sender_cpu_percent"] < BOUND_PERCENT["cgroup"]
    # the same bytes, in intervals that are not quite the window
    assert row["kernel_bits_per_s"] / 2 < row["bits_per_s"] < row["kernel_bits_per_s"] * 2
    path = tmp_path / "record.json"
    write(record, path)
    assert read(path) == json.loads(json.dumps(record))
    assert "sender" in line_of("loopback", record)


@needs_iperf3
@pytest.mark.needs_root
def test_every_datagram_is_accounted_for(tmp_path: Path) -> None:
    record = datagrams(tmp_path, "veth_udp")
    assert record["status"] == "measured", record["reason"]
    row = datagram_row(record, DatagramCell(**record["cell"]))
    assert row["drained"]
    assert row["lost_unaccounted"] == 0
    assert row["sent"] > row["received"] > 0 or row["lost"] == 0
    # iperf3 counts what it sent; the kernel, the greeting too
    assert row["kernel_sent"] - row["driver_sent"] == 1


def own_programs() -> tuple[Path, Path]:
    folder = programs_folder() / "bin"
    return folder / "sender_two_copy", folder / RECEIVER


@pytest.mark.needs_root
@pytest.mark.parametrize("kind", ["cgroup", "cpulimit"])
def test_our_own_sender_is_limited_as_iperf3_is(tmp_path: Path, kind: str) -> None:
    cell = replace(budget_cell(kind, 30), driver="two_copy")
    lock = tmp_path / "lock"
    record = check(measure_budget(cell, BUDGET, host_facts(None), own_programs(), lock), "record")
    if record["status"] == "skipped":
        pytest.skip(record["reason"])
    assert record["status"] == "measured", record["reason"]
    assert record["limiter"]["held"]
    row = budget_row(record, cell)
    # a stopped program sees the edges of its window late, which made this up to 3700 %
    assert 0 < row["sender_cpu_percent"] < BOUND_PERCENT[kind]
    assert not row["sender_waiting_percent"] < 0  # NaN where a thread has ended already
    assert row["bits_per_s"] > 0
    assert math.isnan(row["sent_bits_per_s"]) == (kind == "cpulimit")
    assert row["congestion_control"] == "reno"


@pytest.mark.needs_root
def test_every_datagram_of_our_own_sender_is_accounted_for(tmp_path: Path) -> None:
    cell = DatagramCell(
        testbed="veth_udp", driver="two_copy", datagram_bytes=1000, n_streams=2, rep=1
    )
    lock = tmp_path / "lock"
    host = host_facts(None)
    record = check(measure_datagrams(cell, DATAGRAMS, host, own_programs(), lock), "record")
    assert record["status"] == "measured", record["reason"]
    row = datagram_row(record, cell)
    # each stream says goodbye once, and on a busy host again: nobody may be there to read that
    said_again = row["sent"] - record["driver"]["pairs"][0]["client"]["total"]["datagrams"] - 2
    assert 0 <= row["lost_unaccounted"] <= said_again
    assert row["sent"] >= row["received"] > 0
    assert row["sender_ns"] > 0
    # on a busy host we look late, the programs at their edges
    for side, role in (("sender", "client"), ("receiver", "server")):
        told = record["driver"]["pairs"][0][role]
        assert record[side]["cpu_ns"] == told["process"]["cpu_ns"]
        assert record[side]["window_ns"] == told["window"]["end_ns"] - told["window"]["start_ns"]


@pytest.mark.needs_root
def test_a_program_that_is_gone_when_we_look_has_told_its_cpu_time_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Sequence[int]] = []

    def too_late(pids: Sequence[int]) -> Usage:
        looks.append(pids)
        if len(looks) > 2:  # of both sides at the window's begin
            raise ProcessLookupError
        return usage_of(pids)

    monkeypatch.setattr(ours, "usage_of", too_late)
    cell = DatagramCell(
        testbed="veth_udp", driver="two_copy", datagram_bytes=1000, n_streams=1, rep=1
    )
    lock, host = tmp_path / "lock", host_facts(None)
    record = check(measure_datagrams(cell, DATAGRAMS, host, own_programs(), lock), "record")
    assert record["status"] == "measured", record["reason"]
    told = record["driver"]["pairs"][0]["client"]
    assert record["sender"]["cpu_ns"] == told["process"]["cpu_ns"] > 0
    assert record["receiver"]["waiting_ns"] is None
    assert 0 < datagram_row(record, cell)["sender_cpu_percent"] <= 100


def test_no_iperf3_is_a_skipped_record_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool, "_SEARCH_PATH", str(tmp_path))
    record = datagrams(tmp_path)
    assert (record["status"], record["reason"]) == ("skipped", "iperf3 was not found")
    assert record["remedy"] == "install the package iperf3"


def test_an_old_iperf3_is_a_skipped_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "iperf3"
    old.write_text("#!/bin/sh\necho 'iperf 3.1.3'\n")
    old.chmod(0o755)
    monkeypatch.setattr(tool, "_SEARCH_PATH", str(tmp_path))
    record = datagrams(tmp_path)
    assert record["status"] == "skipped"
    assert "too old" in record["reason"]


@pytest.mark.parametrize("driver", ["iperf3", "two_copy"])
def test_no_right_to_make_control_groups_is_a_skipped_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, driver: str
) -> None:
    def refuse() -> None:
        raise LimiterUnavailable("no control group may be made", "run as root")

    monkeypatch.setattr(limiter, "find_hierarchy", refuse)
    cell = replace(budget_cell("cgroup", 30), driver=driver)
    lock, programs = tmp_path / "lock", () if driver == "iperf3" else own_programs()
    record = measure_budget(cell, BUDGET, host_facts(None), programs, lock)
    write(record, tmp_path / "record.json")
    assert record["status"] == "skipped"
    assert (record["reason"], record["remedy"]) == ("no control group may be made", "run as root")


@needs_iperf3
def test_a_congestion_control_that_we_may_not_have_gives_way_to_reno(tmp_path: Path) -> None:
    cell = budget_cell("cpulimit", 100)
    wanted = replace(BUDGET, congestion_control="nosuch")
    record = check(measure_budget(cell, wanted, HOST, lock_path=tmp_path / "lock"), "record")
    assert record["status"] == "measured", record["reason"]
    assert budget_row(record, cell)["congestion_control"] == "reno"


@needs_iperf3
def test_a_client_begins_before_the_next_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts_ns: list[int] = []

    def start(role: Role, *rest: Any) -> IperfProcess:  # noqa: ANN401 - whatever it takes
        if role == "client":
            starts_ns.append(time.monotonic_ns())
        return start_iperf3(role, *rest)

    monkeypatch.setattr(processes, "start_iperf3", start)
    monkeypatch.setattr(tool.Iperf3Tool, "pairs", lambda _, n_streams: (n_streams, 1))
    cell = replace(budget_cell("cpulimit", 100), n_streams=3)
    record = check(measure_budget(cell, BUDGET, HOST, lock_path=tmp_path / "lock"), "record")
    assert record["status"] == "measured", record["reason"]
    began_ns = [pair["began_ns"] for pair in record["driver"]["pairs"]]
    # noted late, it would shift the intervals that are taken for those of the window
    for began, next_start in zip(began_ns, starts_ns[1:], strict=False):
        assert began < next_start


@needs_iperf3
@pytest.mark.parametrize("role", ["client", "server"])
def test_a_crash_in_the_window_is_a_failed_record_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    runs: list[Iperf3Run] = []

    class Saboteur(repetition._Warden):
        def before_warmup(self, run: Iperf3Run) -> None:
            runs.append(run)

        def at_edge(self) -> None:
            super().at_edge()
            os.kill(runs[0].pids(role)[0], signal.SIGSEGV)  # type: ignore[arg-type]

    monkeypatch.setattr(repetition, "_Warden", Saboteur)
    record = budget(tmp_path, "cpulimit", 100)
    assert record["status"] == "failed"
    assert f"the iperf3 {role} ended during the window (by SIGSEGV)" in record["reason"]
    assert record["remedy"]
    for process in (*runs[0].clients, *runs[0].servers):
        assert process.process.returncode is not None


class Printed:
    """What is left of an iperf3 process: its role and its output."""

    began_ns = 1

    def __init__(self, role: str, text: str) -> None:
        self.role = role
        self._text = text

    def output(self) -> str:
        return self._text


def kept(client: str, server: str) -> dict[str, Any]:
    record: dict[str, Any] = {"driver": {"pairs": []}, "warnings": []}
    pairs: Sequence[Any] = [(Printed("client", client), Printed("server", server))]
    _keep_output(record, pairs)
    return record


def captured(name: str) -> str:
    return (DATA / f"{name}.json").read_text(encoding="utf-8")


def test_output_that_was_cut_off_is_a_failure() -> None:
    record = kept(captured("tcp_client")[:500], captured("tcp_server"))
    assert record["status"] == "failed"
    assert "the iperf3 client" in record["reason"]


def test_nan_is_a_warning_and_no_failure() -> None:
    odd = captured("udp_client").replace("61.470784270162184", "-nan")
    record = kept(odd, captured("udp_server"))
    assert record["status"] == "measured"
    assert [warning["code"] for warning in record["warnings"]] == ["iperf3_nan"]
    assert json.dumps(record["driver"], allow_nan=False)


def test_an_error_that_iperf3_reports_is_the_reason() -> None:
    record = kept('{"error": "control socket has closed unexpectedly"}', captured("tcp_server"))
    assert record["status"] == "failed"
    assert "control socket has closed" in record["reason"]
