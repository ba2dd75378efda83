"""Each check fires on what it is for and on what is planted, and on nothing that was measured."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from analysed import inputs_of
from sample_records import sample_record, with_round_trips
from synthetic import Run
from unit.compare.audit.made import GUESSED, PUBLISHED, findings_of, honest, write_cells
from unit.compare.audit.planted import FAULTS, NOT_FOUND, planted

from copycost.compare.audit.plausibility import check_plausibility
from copycost.compare.audit.plausibility.rows import check_round_trips
from copycost.compare.audit.plausibility.sample import declared
from copycost.compare.audit.reader import read_dataset
from copycost.records.record import Record
from copycost.records.table import make_table
from copycost.studies.round_trips.table import ROUND_TRIPS, derive_round_trips

pytestmark = pytest.mark.slow


@cache
def usual(repetitions: int, digits: int | None) -> set[tuple[str, tuple[str, ...]]]:
    """Return what is found in a table in which nothing was planted."""
    with TemporaryDirectory() as folder:
        found = findings_of(honest(repetitions, digits), Path(folder))
    return {(one.code, one.cells) for one in found}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    findings = findings_of(planted(fault), tmp_path)
    found = {(one.code, one.cells) for one in findings}
    new = found - usual(fault.repetitions, fault.digits)
    assert {code for code, _ in new} & set(fault.codes.split()), found


@pytest.mark.parametrize(
    ("factor", "cause"),
    [
        (1 / 8, "bits were taken for bytes"),
        (1e-3, "a prefix (k, M, G) is wrong"),
        (1 / 1.048576, "2^20 was taken for 10^6"),
        (1.37, "1.37"),
    ],
)
def test_what_columns_disagree_by_tells_a_cause(factor: float, cause: str, tmp_path: Path) -> None:
    table = honest(digits=8)
    table = table.assign(throughput_gbps=table["throughput_gbps"] * factor)
    found = [one for one in findings_of(table, tmp_path) if one.check == "consistency"]
    assert any(cause in one.found + one.why for one in found), found


def test_a_single_row_has_its_words_too(tmp_path: Path) -> None:
    findings = findings_of(honest(1).head(1).assign(LLC=0), tmp_path)
    assert {"zeros", "one_repetition"} <= {one.code for one in findings if one.found}


def test_every_finding_is_planted_somewhere() -> None:
    shown = {code for fault in FAULTS.values() for code in fault.codes.split()}
    of_round_trips = {"more_round_trips_than_time", "short_round_trips"}
    assert shown | {"one_repetition"} | of_round_trips == set(declared())


@pytest.mark.parametrize("name", NOT_FOUND)
def test_what_looks_like_a_measurement_is_not_refuted(name: str, tmp_path: Path) -> None:
    findings = findings_of(planted(NOT_FOUND[name]), tmp_path)
    assert not any(finding.refutes for finding in findings)
    page = PUBLISHED.parents[1] / "docs" / "audit.md"
    assert name in page.read_text(encoding="utf-8")


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
    dataset = read_dataset(write_cells(cells, tmp_path), GUESSED)
    assert check_plausibility(dataset) == []


def test_nothing_is_said_of_a_real_run() -> None:
    path = PUBLISHED.parents[1] / "tests" / "data" / "audit" / "own-run.csv"
    dataset = read_dataset(path, GUESSED)
    assert set(dataset.steps) == {
        "throughput", "latency", "bytes", "messages", "duration", "cpu_time", "context_switches",
    }  # fmt: skip
    assert check_plausibility(dataset) == []


def round_trips(n_threads: int = 1, **values: object) -> pd.DataFrame:
    """Return a table of two rounds, of which the second has other values."""
    records = [
        with_round_trips(sample_record(rep=rep, start_ns=rep * 10**10, n_threads=n_threads))
        for rep in (1, 2)
    ]
    table = make_table((derive_round_trips(cast("Record", one)) for one in records), ROUND_TRIPS)
    for name, value in values.items():
        table.loc[1, name] = value
    return table


def codes_of(table: pd.DataFrame) -> list[str]:
    found = list(check_round_trips(table, "lab"))
    assert all(one.refutes for one in found)
    return [one.code for one in found]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({}, []),
        ({"mean_ns": 50_000.0}, []),  # 20,000 of them in 1 s
        ({"mean_ns": 52_000.0}, ["more_round_trips_than_time"]),
        ({"mean_ns": 52_000.0, "interval_ns": 40_000}, []),  # counted from when they were due
        ({"mean_ns": 52_000.0, "max_ns": 1e9}, []),  # one began long before the window
        # every connection has the whole window
        ({"n_threads": 4, "mean_ns": 190_000.0}, []),
        ({"n_threads": 4, "mean_ns": 210_000.0}, ["more_round_trips_than_time"]),
        ({"p50_ns": 121.0}, []),
        ({"p50_ns": 0.03}, ["short_round_trips"]),
        ({"samples": float("nan"), "mean_ns": float("nan"), "p50_ns": float("nan")}, []),
    ],
)
def test_only_what_cannot_be_is_refuted(values: dict[str, Any], found: list[str]) -> None:
    assert codes_of(round_trips(**values)) == found
    assert codes_of(round_trips().iloc[:0]) == []


def test_a_receiver_whose_window_began_late_takes_nothing_from_the_sender() -> None:
    late = with_round_trips(sample_record())
    window = late["driver"]["receiver"]["window"]
    window["start_ns"] = window["half_ns"] = window["end_ns"] - 900_000_000
    row = derive_round_trips(cast("Record", late))
    assert (row["window_s"], row["round_trips_per_s"]) == (1.0, 20_000)
    assert codes_of(make_table([row | {"mean_ns": 50_000.0}], ROUND_TRIPS)) == []
