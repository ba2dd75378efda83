"""From records of round trips to their two tables."""

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from sample_records import beside, sample_record, with_round_trips

from copycost.records.record import Record, cell_of, read_record
from copycost.records.table import read_table
from copycost.studies.round_trips.table import (
    CURVES,
    PAIRED,
    ROUND_TRIPS,
    collect_round_trips,
    derive_round_trips,
)

SECOND_NS = 1_000_000_000
CAPTURED = Path(__file__).parents[3] / "data" / "records" / "measured_round_trip_one_copy.json"


def save(folder: Path, record: dict[str, Any]) -> Path:
    path = folder / cell_of(cast("Record", record)).path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


def collect(paths: list[Path], folder: Path) -> None:
    collect_round_trips(paths, folder / "round_trips.csv", folder / "curves.csv")


def test_both_tables_come_back_as_they_were_written(tmp_path: Path) -> None:
    measured = with_round_trips(sample_record("one_copy", msg_bytes=4096))
    measured["driver"]["sender"]["round_trip"]["p999_ns"] = None
    failed = sample_record("two_copy", status="failed", start_ns=9 * SECOND_NS, study="round_trips")
    collect([save(tmp_path, measured), save(tmp_path, failed)], tmp_path)
    table = read_table(tmp_path / "round_trips.csv", ROUND_TRIPS)
    assert table["status"].tolist() == ["measured", "failed"]
    row = table.iloc[0]
    assert (row["p50_ns"], row["round_trips_per_s"]) == (30_000, 20_000)
    assert np.isnan(row["p999_ns"])
    assert row["both_cpu_ns_per_round_trip"] == 2 * 950_000_000 / 20_000
    assert row["context_switches_per_round_trip"] == 2_000 / 20_000
    assert np.isnan(table.iloc[1]["p50_ns"])
    curves = read_table(tmp_path / "curves.csv", CURVES)
    assert curves["quantile"].tolist() == [0.0, 0.5, 0.99, 1.0]
    assert curves["ns"].tolist() == [20_000, 30_000, 55_000, 400_000]
    assert set(curves["implementation"]) == {"one_copy"}


def test_each_of_two_in_turns_has_the_times_and_the_costs_of_its_own(tmp_path: Path) -> None:
    reference = with_round_trips(sample_record("two_copy", msg_bytes=4096))
    times = reference["driver"]["sender"]["round_trip"]
    times |= {"samples": 5_000, "p50_ns": 45_000.0, "p999_ns": None}
    reference["observed"]["perf_stat"]["sender"]["events"]["task_clock_ns"]["value"] *= 3
    record = beside(with_round_trips(sample_record("one_copy", msg_bytes=4096)), reference)
    path = save(tmp_path, record)
    assert read_record(path)["driver"] == record["driver"]
    collect([path], tmp_path)
    row = read_table(tmp_path / "round_trips.csv", ROUND_TRIPS).iloc[0]
    assert row["reference"] == "two_copy"
    assert (row["window_s"], row["samples"], row["p50_ns"]) == (0.04, 20_000, 30_000)
    assert (row["round_trips_per_s"], row["reference_round_trips_per_s"]) == (500_000, 125_000)
    assert (row["reference_p50_ns"], row["reference_p99_ns"]) == (45_000, 55_000)
    assert np.isnan(row["reference_p999_ns"])
    both = "both_cpu_ns_per_round_trip"
    assert row[both] == 2 * 950_000_000 / 20_000
    assert row[f"reference_{both}"] == 4 * 950_000_000 / 5_000
    assert row["reference_sender_syscalls_per_round_trip"] == 20_000 / 5_000
    told = [name for name in PAIRED if not np.isnan(row[f"reference_{name}"])]
    assert set(PAIRED) - set(told) == {"p999_ns"}
    assert read_table(tmp_path / "curves.csv", CURVES)["ns"].tolist() == [
        20_000,
        30_000,
        55_000,
        400_000,
    ]


def test_round_trips_that_were_really_made_pass_every_check(tmp_path: Path) -> None:
    record = json.loads(CAPTURED.read_text())
    collect([save(tmp_path, record)], tmp_path)
    row = read_table(tmp_path / "round_trips.csv", ROUND_TRIPS).iloc[0]
    assert row["samples"] == record["driver"]["sender"]["round_trip"]["samples"] > 0
    curve = read_table(tmp_path / "curves.csv", CURVES)
    assert curve["quantile"].is_monotonic_increasing
    assert curve["ns"].is_monotonic_increasing
    assert curve["ns"].iloc[0] <= row["p50_ns"] <= row["p90_ns"] <= row["max_ns"]


def test_machines_that_are_two_have_what_a_round_trip_takes_of_each(tmp_path: Path) -> None:
    record = with_round_trips(sample_record("one_copy", msg_bytes=4096))
    record["cell"]["testbed"] = record["testbed"]["kind"] = "wire"
    for end in ("sender", "receiver"):
        record["testbed"]["machines"][end]["clock_uncertainty_ns"] = 4_000
    busy = {"busy_ns": 300_000_000, "softirq_ns": 100_000_000, "at_ns": 500_000_000}
    counts = dict.fromkeys(record["observed"]["kernel"], 0) | {"softnet_dropped": 2}
    record["observed"]["kernel"]["machines"] = {"sender": counts | busy, "receiver": counts | busy}
    row = derive_round_trips(cast("Record", record))
    # 0.6 of a CPU, over 20 000 round trips in a second
    assert row["sender_machine_cpu_ns_per_round_trip"] == pytest.approx(30_000)
    assert row["receiver_machine_softirq_cpu_ns_per_round_trip"] == pytest.approx(10_000)
    assert (row["receiver_softnet_dropped"], row["clock_uncertainty_ns"]) == (2, 4_000)


def test_no_round_trips_at_all_are_tables_without_rows(tmp_path: Path) -> None:
    collect([], tmp_path)
    assert read_table(tmp_path / "round_trips.csv", ROUND_TRIPS).empty
    assert read_table(tmp_path / "curves.csv", CURVES).empty


def test_a_sender_that_tells_no_round_trips_costs_that_repetition(tmp_path: Path) -> None:
    record = with_round_trips(sample_record())
    record["driver"]["sender"]["round_trip"] = None
    silent = beside(with_round_trips(sample_record(rep=2)), sample_record())
    collect([save(tmp_path, record), save(tmp_path, silent)], tmp_path)
    for row in read_table(tmp_path / "round_trips.csv", ROUND_TRIPS).to_dict("records"):
        assert (row["status"], "tells no round trips" in row["reason"]) == ("failed", True)
