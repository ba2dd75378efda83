"""Round trips: what is told, and what the samples do not carry."""

import numpy as np
import pandas as pd
import pytest
from synthetic.round_trips import TAILS, RoundTrips, make_round_trips, round_trips_config

from copycost.analysis.json_values import Facts, plain
from copycost.stats.settings import StatisticsSettings
from copycost.studies.round_trips.facts import round_trip_facts

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
    found = {
        (row["implementation"], row["msg_bytes"], row["percentile"]): row
        for row in condition["ratios"]
    }
    for percentile in ("p50_ns", "p90_ns", "p99_ns", "p999_ns"):
        row = found["zero_copy", 4096, percentile]
        assert row["low"] < 1.35 < row["high"]
        assert row["sign"] == 1
        assert found["zero_copy", 64, percentile]["sign"] == 0
    assert condition["labels"]["zero_copy"] == "zero-copy requested, 100\u00a0% copied"


@pytest.mark.parametrize(("samples", "missing"), [(20000, 0), (5000, 1), (500, 2)])
def test_percentile_without_enough_samples_is_not_told(samples: int, missing: int) -> None:
    for row in facts_of_trips(RoundTrips(samples=samples))["conditions"][0]["rows"]:
        told = [row[name] is not None for name in ("p50_ns", "p90_ns", "p99_ns", "p999_ns")]
        assert told == [True] * (4 - missing) + [False] * missing


def test_a_percentile_that_one_repetition_lacks_is_not_told() -> None:
    table = make_round_trips(TRIPS)
    table.loc[(table["rep"] == 2) & (table["msg_bytes"] == 64), "p99_ns"] = float("nan")
    facts = facts_of_table(table)
    rows = facts["conditions"][0]["rows"]
    assert {row["msg_bytes"] for row in rows if row["p99_ns"] is None} == {64}


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
    # by rounds nothing of this is seen
    alone = facts_of_table(drifting().drop(columns="reference_p50_ns"))["conditions"][0]
    spans = [row["high"] / row["low"] for row in alone["ratios"] if row["percentile"] == "p50_ns"]
    assert min(spans) > 1.3


def test_the_control_is_the_reference_against_itself() -> None:
    control = facts_of_table(drifting())["control"]
    assert control["implementations"] == ["two_copy"]
    whole = control["round_trip"]
    assert [whole[name] for name in ("n", "n_tested", "sign", "n_apart")] == [15, 3, 0, 0]
    biased = facts_of_table(drifting(bias=0.1))["control"]["round_trip"]
    assert (biased["sign"], biased["n_apart"]) == (1, 3)
    assert facts_of_trips()["control"] is None


def test_nothing_asked_for_is_none_and_nothing_measured_has_its_reason() -> None:
    assert round_trip_facts(None, {}, SETTINGS, {}) is None
    facts = facts_of_trips(RoundTrips(skipped="no namespaces"))["conditions"][0]
    assert facts["rows"] == facts["ratios"] == []
    assert facts["skipped"][0]["reason"] == "no namespaces"


def test_ratio_of_one_round_is_no_comparison() -> None:
    """It has no p-value, so that no correction counts it."""
    table = make_round_trips(TRIPS)
    alone = (table["implementation"] == "zero_copy") & (table["msg_bytes"] == 64)
    table.loc[alone & (table["rep"] > 1), "p999_ns"] = float("nan")
    facts = facts_of_table(table)
    (condition,) = facts["conditions"]
    once = [row for row in condition["ratios"] if row["once"]]
    assert len(once) == 1
