"""Round trips: from records to their tables and facts, and what the samples do not carry."""

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from sample_records import beside, sample_record, with_round_trips
from synthetic.round_trips import TAILS, RoundTrips, make_round_trips, round_trips_config

from copycost.analysis.json_values import Facts, plain
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.records.record import Record, cell_of
from copycost.records.table import read_table
from copycost.studies.round_trips.facts import round_trip_facts
from copycost.studies.round_trips.table import (
    CURVES,
    PERCENTILES,
    ROUND_TRIPS,
    collect_round_trips,
)

SETTINGS = StatisticsSettings()
TRIPS = RoundTrips()


def facts_of_table(table: pd.DataFrame | None, trips: RoundTrips = TRIPS) -> Facts:
    config = {
        "round_trips": round_trips_config(trips),
        "measure": {"interval_us": trips.interval_us},
    }
    result: Facts = plain(round_trip_facts(table, config, SETTINGS, {}))
    return result


def facts_of_trips(trips: RoundTrips = TRIPS) -> Facts:
    return facts_of_table(make_round_trips(trips), trips)


def test_known_difference_is_found_in_every_percentile() -> None:
    condition = facts_of_trips()["conditions"][0]
    assert condition["labels"]["zero_copy"] == "zero-copy requested, 100\u00a0% copied"
    ratios = [row for row in condition["ratios"] if row["implementation"] == "zero_copy"]
    assert {row["percentile"] for row in ratios} == set(PERCENTILES)
    for row in ratios:
        if row["msg_bytes"] == 64:
            assert row["sign"] == 0
        elif row["msg_bytes"] == 4096:
            assert row["sign"] == 1
            assert row["low"] < 1.35 < row["high"]


@pytest.mark.parametrize(("samples", "missing"), [(20000, 0), (5000, 1), (500, 2)])
def test_percentile_without_enough_samples_is_not_told(samples: int, missing: int) -> None:
    for row in facts_of_trips(RoundTrips(samples=samples))["conditions"][0]["rows"]:
        told = [row[name] is not None for name in PERCENTILES]
        assert told == [True] * (4 - missing) + [False] * missing


def test_a_percentile_that_repetitions_lack_is_not_told_and_one_round_is_no_comparison() -> None:
    table = make_round_trips(TRIPS)
    alone = (table["implementation"] == "zero_copy") & (table["msg_bytes"] == 64)
    table.loc[alone & (table["rep"] > 1), "p999_ns"] = float("nan")
    table.loc[(table["rep"] == 2) & (table["msg_bytes"] == 4096), "p99_ns"] = float("nan")
    (condition,) = facts_of_table(table)["conditions"]
    assert {row["msg_bytes"] for row in condition["rows"] if row["p99_ns"] is None} == {4096}
    # it has no p-value, so that no correction counts it
    assert [row["percentile"] for row in condition["ratios"] if row["once"]] == ["p999_ns"]


def drifting(bias: float = 0.0) -> pd.DataFrame:
    """Return round trips whose level moves by up to half, measured in turns with two_copy.

    `bias` is by how much the logarithm of what the reference came to is too low.
    """
    rng = np.random.default_rng(1)
    table = make_round_trips(RoundTrips(noise=0.0))
    truth = table[table["implementation"] == "two_copy"].set_index(["msg_bytes", "rep"])
    keys = pd.MultiIndex.from_frame(table[["msg_bytes", "rep"]])
    level = np.exp(rng.uniform(-0.4, 0.4, len(table)))
    times = (*TAILS, "both_cpu_ns_per_round_trip")
    noise = {name: np.exp(rng.normal(-bias, 0.01, len(table))) for name in times}
    beside = {
        f"reference_{name}": truth.loc[keys, name].to_numpy() * level * noise[name]
        for name in times
    }
    own = {name: table[name] * level for name in times}
    return table.assign(reference="two_copy", **own, **beside)


def test_what_is_measured_in_turns_is_compared_by_the_ratio_of_each_repetition() -> None:
    facts = facts_of_table(drifting())
    (condition,) = facts["conditions"]
    for row in condition["ratios"]:
        slow = row["implementation"] == "zero_copy" and row["msg_bytes"] > 1000
        assert row["value"] == pytest.approx(np.exp(0.3 if slow else 0.0), rel=0.02)
        assert row["low"] > 0.95 * row["value"]
        assert row["sign"] == 1 or not slow
    for row in condition["decisions"]["rows"]:
        assert row["missing"] == []
        for told in (row["fastest"], row["cheapest"]):
            assert ("zero_copy" in told["subject"]) == (row["msg_bytes"] == 64)


def test_the_control_is_the_reference_against_itself() -> None:
    control = facts_of_table(drifting())["control"]
    assert control["implementations"] == ["two_copy"]
    whole = control["round_trip"]
    assert [whole[name] for name in ("n", "n_tested", "sign", "n_apart")] == [15, 3, 0, 0]
    biased = facts_of_table(drifting(bias=0.1))["control"]["round_trip"]
    assert (biased["sign"], biased["n_apart"]) == (1, 3)
    assert facts_of_trips()["control"] is None


def test_nothing_asked_for_is_none_and_nothing_measured_has_its_reason(tmp_path: Path) -> None:
    assert round_trip_facts(None, {}, SETTINGS, {}) is None
    collect([], tmp_path)
    assert read_table(tmp_path / "round_trips.csv", ROUND_TRIPS).empty
    facts = facts_of_trips(RoundTrips(skipped="no namespaces"))["conditions"][0]
    assert facts["rows"] == facts["ratios"] == []
    assert facts["skipped"][0]["reason"] == "no namespaces"


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


def test_round_trips_that_were_really_made_pass_every_check(tmp_path: Path) -> None:
    record = json.loads(CAPTURED.read_text())
    collect([save(tmp_path, record)], tmp_path)
    row = read_table(tmp_path / "round_trips.csv", ROUND_TRIPS).iloc[0]
    assert row["samples"] == record["driver"]["sender"]["round_trip"]["samples"] > 0
    curve = read_table(tmp_path / "curves.csv", CURVES)
    assert curve["quantile"].is_monotonic_increasing
    assert curve["ns"].is_monotonic_increasing
    assert curve["ns"].iloc[0] <= row["p50_ns"] <= row["p90_ns"] <= row["max_ns"]


def test_a_sender_that_tells_no_round_trips_costs_that_repetition(tmp_path: Path) -> None:
    record = with_round_trips(sample_record())
    record["driver"]["sender"]["round_trip"] = None
    silent = beside(with_round_trips(sample_record(rep=2)), sample_record())
    collect([save(tmp_path, record), save(tmp_path, silent)], tmp_path)
    for row in read_table(tmp_path / "round_trips.csv", ROUND_TRIPS).to_dict("records"):
        assert (row["status"], "tells no round trips" in row["reason"]) == ("failed", True)
