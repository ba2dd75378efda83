"""Profiled repetitions, for real: with both drivers, and where one of the two runs fails."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from measured.failures_support import host_facts
from measured.repetitions import driver, needs_iperf3, task

from copycost.config.cells import Cell
from copycost.hosts.side import REFERENCES, SIDES
from copycost.records.record import check_record, write_record
from copycost.snakefile.describe_repetition import line_of
from copycost.studies.profile.folded import folded_path, write_folded
from copycost.studies.profile.repetition import Profiled, profile_repetition
from copycost.studies.profile.runs import run_of
from copycost.studies.profile.tables import read_repetitions
from tools.recompute.profile import repetitions

pytestmark = [pytest.mark.needs_root, pytest.mark.needs_perf]

PERF = {"version": "6", "paranoid": -1, "user_only": False, "remedy": None}


def profiled(folder: Path, cell: Cell, *ways: str, **perf: Any) -> Profiled:  # noqa: ANN401
    """Profile a cell; `ways` are what sends, if not its own, and the reference, if any."""
    facts = host_facts(shutil.which("perf"))
    facts["perf"] |= PERF | perf
    plan = replace(task(folder, cell, facts=facts), driver=driver(cell, *ways))
    found = profile_repetition(plan, "auto", 999)
    check_record(found.record, "record")
    return found


@pytest.mark.parametrize(
    ("implementation", "rep"), [("two_copy", 1), pytest.param("iperf3", 2, marks=needs_iperf3)]
)
def test_a_cell_runs_sampled_and_not_in_turns(
    tmp_path: Path, implementation: str, rep: int
) -> None:
    cell = Cell("profile", "veth", implementation, 65536, 1, rep=rep)
    found = profiled(tmp_path, cell)
    record = found.record
    assert record["status"] == "measured", record["reason"]
    undisturbed = record["undisturbed"]
    assert undisturbed is not None
    assert (undisturbed["start_ns"] < record["start_ns"]) == (rep == 1)
    assert "sampling" not in undisturbed["observed"]
    observed = record["observed"]
    for side in ("sender", "receiver"):
        assert observed["perf_stat"][side]["events"]["task_clock_ns"]["value"] > 0
        assert found.stacks[side].samples == observed["sampling"]["sides"][side]["samples"]
    assert any("tcp_sendmsg" in stack for stack in found.stacks["sender"].weights)
    assert run_of(undisturbed).received_bytes > 0
    assert "sender" in line_of(record)


@pytest.mark.parametrize(("testbed", "n_sides"), [("veth", 2), ("sink", 1)])
def test_a_way_and_the_reference_are_profiled_in_turns(
    tmp_path: Path, testbed: str, n_sides: int
) -> None:
    """Each has its own samples, bytes and CPU time, by the package and by the recomputation."""
    cell = Cell("profile", testbed, "zero_copy", 32768, 2, rep=2)
    found = profiled(tmp_path, cell, "zero_copy", "two_copy")
    assert found.record["status"] == "measured", found.record["reason"]
    assert list(found.stacks) == [*SIDES[:n_sides], *REFERENCES[:n_sides]]
    for name in ("sender", "reference_sender"):
        pins = any("zerocopy" in stack for stack in found.stacks[name].weights)
        assert pins == (name == "sender"), name
    path = tmp_path / cell.path
    write_record(found.record, path)
    write_folded(found.stacks, folded_path(path))
    (way,), (again,) = read_repetitions([path]), repetitions(tmp_path / "results")
    assert way.reference is not None
    for name, one in (("zero_copy", way), ("two_copy", way.reference)):
        assert one.samples.keys() == set(SIDES[:n_sides])
        assert one.key.implementation == name
        assert one.plain is not None
        assert one.plain.received_bytes > 0
    assert again.stacks.keys() == set(SIDES[:n_sides])
    for side in again.stacks:
        assert way.samples[side].stacks == again.stacks[side]
        assert way.run.ns_per_kib(side) == pytest.approx(again.factors(side)[2])


def test_a_kernel_that_may_not_be_sampled_is_a_skipped_record(tmp_path: Path) -> None:
    cell = Cell("profile", "veth", "two_copy", 65536, 1)
    record = profiled(tmp_path, cell, user_only=True, paranoid=2).record
    assert record["status"] == "skipped"
    assert "perf_event_paranoid is 2" in str(record["reason"])
    assert record["driver"] is record["undisturbed"] is None


@pytest.mark.parametrize("rep", [1, 2])
def test_a_run_that_fails_is_the_reason(tmp_path: Path, rep: int) -> None:
    cell = Cell("profile", "veth", "two_copy", 65536, 1, rep=rep)
    found = profiled(tmp_path, cell, "nonesuch")
    assert found.record["status"] == "failed"
    assert "sender_nonesuch: cannot be started" in str(found.record["reason"])
    assert found.stacks == {}
