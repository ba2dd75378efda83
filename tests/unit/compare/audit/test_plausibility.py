"""Each check fires on what it is for, and on nothing that was measured."""

from pathlib import Path

import numpy as np
import pytest
from analysed import inputs_of
from synthetic import Run
from unit.compare.audit.made import findings_of, honest, write_cells

from copycost.compare.audit.mapping import FileMapping
from copycost.compare.audit.plausibility import Finding, check_plausibility
from copycost.compare.audit.plausibility.sample import Kind
from copycost.compare.audit.reader import read_dataset

pytestmark = pytest.mark.slow

PUBLISHED = Path(__file__).parents[4] / "data" / "published"


def checks(findings: list[Finding]) -> set[tuple[str, str]]:
    return {
        (finding.check, name)
        for finding in findings
        for name in finding.quantities
        if finding.check != "incomplete"
    }


def one(findings: list[Finding], check: str) -> Finding:
    found = [finding for finding in findings if finding.check == check]
    assert len(found) == 1, findings
    return found[0]


@pytest.mark.parametrize(
    ("seed", "digits", "level"),
    [(0, 2, 0.003), (0, 6, 0.003), (0, 2, 0.05), (1, 3, 0.05), (2, 6, 0.05)],
)
def test_nothing_is_said_of_noisy_measurements(
    seed: int, digits: int, level: float, tmp_path: Path
) -> None:
    table = honest(3, digits, seed, "normal", level).drop(columns="latency_us")
    findings = findings_of(table, tmp_path)
    # As little noise as this, the same in every cell, is a question.
    assert {finding.code for finding in findings} <= {"even_repetitions", "smooth"}
    assert level < 0.01 or not findings


@pytest.mark.parametrize("counters", [False, True])
def test_nothing_is_said_of_a_table_of_our_own(counters: bool, tmp_path: Path) -> None:
    cells = inputs_of(Run(counters=counters, noise=0.05)).cells
    # The synthetic table computes these from one another; in a real one each is counted.
    rng = np.random.default_rng(2)
    counted = [name for name in cells if name.endswith(("_ns", "_cycles", "_misses"))]
    for name in set(counted) - {"start_ns", "end_ns"}:
        cells[name] *= rng.normal(1, 0.02, len(cells))
    dataset = read_dataset(write_cells(cells, tmp_path), FileMapping())
    assert check_plausibility(dataset) == []


def test_a_latency_that_follows_from_the_throughput_is_not_separate(tmp_path: Path) -> None:
    for factor in (1, "threads"):
        table = honest(1)
        times = table["size"] * 8 / table["throughput_gbps"] / 1e3
        times = times * (1 if factor == 1 else table["threads"])
        finding = one(findings_of(table.assign(latency_us=times.round(2)), tmp_path), "derived")
        assert finding.kind is Kind.NOT_SEPARATE
        assert finding.quantities == ("latency",)
        assert ("x threads" in str(finding.numbers["formula"])) == (factor == "threads")


def test_the_published_runs_are_judged_as_a_careful_reader_does() -> None:
    ryzen = check_plausibility(read_dataset(PUBLISHED / "ryzen-7840hs.csv", FileMapping()))
    assert checks(ryzen) == {("zeros", "llc_misses")}
    i5 = check_plausibility(read_dataset(PUBLISHED / "i5-10500.csv", FileMapping()))
    assert checks(i5) == {
        *(("formula", name) for name in ("cycles", "l1d_misses", "llc_misses", "context_switches")),
        ("derived", "latency"),
        ("limits", "cycles"),
    }


def test_nothing_is_said_of_a_real_run() -> None:
    path = Path(__file__).parents[3] / "data" / "audit" / "own-run.csv"
    dataset = read_dataset(path, FileMapping())
    assert set(dataset.steps) == {
        "throughput", "latency", "bytes", "messages", "duration", "cpu_time", "context_switches",
    }  # fmt: skip
    assert check_plausibility(dataset) == []
