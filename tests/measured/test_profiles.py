"""Profiled repetitions, for real: with both drivers, and where one of the two runs fails."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from measured.failures_support import RECEIVER, host_facts, programs_folder

from copycost.config.settings import Settings
from copycost.drivers.choice import driver_of
from copycost.grid.cells import Cell
from copycost.measure.repetition import Task
from copycost.records.record import check_record
from copycost.snakefile.results import line_of
from copycost.studies.profile.record import profile_of
from copycost.studies.profile.repetition import Profiled, profile_repetition

pytestmark = [pytest.mark.needs_root, pytest.mark.needs_perf]

SETTINGS = Settings(warmup_s=0.1, duration_s=0.4, congestion_control="reno")
PERF = {"version": "6", "paranoid": -1, "user_only": False, "remedy": None}


def profiled(folder: Path, cell: Cell, sender: str = "sender_two_copy", **perf: Any) -> Profiled:  # noqa: ANN401
    facts = host_facts(shutil.which("perf"))
    facts["perf"] |= PERF | perf
    programs = programs_folder() / "bin"
    driver = driver_of(cell.implementation, programs / sender, programs / RECEIVER)
    task = Task(cell, SETTINGS, facts, driver, lock_path=folder / "lock")
    found = profile_repetition(task, "auto", 999)
    check_record(found.record, "record")
    return found


@pytest.mark.parametrize("implementation", ["two_copy", "iperf3"])
@pytest.mark.parametrize("rep", [1, 2])
def test_a_cell_runs_sampled_and_not_in_turns(
    tmp_path: Path, implementation: str, rep: int
) -> None:
    if implementation == "iperf3" and not shutil.which("iperf3"):
        pytest.skip("iperf3 is not installed")
    cell = Cell("profile", "veth", implementation, 65536, 1, rep=rep)
    found = profiled(tmp_path, cell)
    record = found.record
    assert record["status"] == "measured", record["reason"]
    undisturbed = record["undisturbed"]
    assert undisturbed is not None
    assert (undisturbed["start_ns"] < record["start_ns"]) == (rep == 1)
    assert "sampling" not in undisturbed["observed"]
    told = profile_of(record)
    assert told["sampled"] is not None
    assert told["plain"] is not None
    assert told["sampling"] is not None
    for side in ("sender", "receiver"):
        assert told["sampled"]["sides"][side]["cpu_source"] == "task_clock"
        assert found.stacks[side].samples == told["sampling"]["sides"][side]["samples"]
    assert any("tcp_sendmsg" in stack for stack in found.stacks["sender"].weights)
    assert told["plain"]["received_bytes"] > 0
    assert "sender" in line_of(record)


def test_a_kernel_that_may_not_be_sampled_is_a_skipped_record(tmp_path: Path) -> None:
    cell = Cell("profile", "veth", "two_copy", 65536, 1)
    record = profiled(tmp_path, cell, user_only=True, paranoid=2).record
    assert record["status"] == "skipped"
    assert "perf_event_paranoid is 2" in str(record["reason"])
    assert record["driver"] is record["undisturbed"] is None


@pytest.mark.parametrize("rep", [1, 2])
def test_a_run_that_fails_is_the_reason(tmp_path: Path, rep: int) -> None:
    cell = Cell("profile", "veth", "two_copy", 65536, 1, rep=rep)
    found = profiled(tmp_path, cell, sender="sender_nonesuch")
    assert found.record["status"] == "failed"
    assert "sender_nonesuch: cannot be started" in str(found.record["reason"])
    assert found.stacks == {}
