"""Round trips: what is told, and what the samples do not carry."""

from pathlib import Path

import pytest
from synthetic.round_trips import RoundTrips, make_round_trips, round_trips_config

from copycost.analysis.json_values import Facts, plain
from copycost.report.write import make_environment
from copycost.stats.settings import StatisticsSettings
from copycost.studies.round_trips.facts import round_trip_facts

SETTINGS = StatisticsSettings()
TEMPLATES = Path(__file__).parents[3] / "report"


def facts_of_trips(trips: RoundTrips) -> Facts:
    config = {
        "round_trips": round_trips_config(trips),
        "measure": {"interval_us": trips.interval_us},
    }
    facts = round_trip_facts(make_round_trips(trips), config, SETTINGS)
    assert facts is not None
    result: Facts = plain(facts)
    return result


def words_of(facts: Facts) -> str:
    module = make_environment(TEMPLATES).get_template("_macros/analysis_round_trips.j2").module
    text = module.beside_two_copy(facts["conditions"][0], facts, 0.95)  # type: ignore[attr-defined]
    return str(text).replace("\u00a0", " ")


def test_disturbed_repetitions_are_told() -> None:
    trips = RoundTrips()
    table = make_round_trips(trips)
    assert "warning" not in words_of(facts_of_trips(trips))
    table.loc[table.index[0], "warnings"] = "few_messages;steal"
    config = {"round_trips": round_trips_config(trips), "measure": {"interval_us": 0}}
    facts = round_trip_facts(table, config, SETTINGS)
    assert facts is not None
    assert facts["conditions"][0]["warnings"] == {"steal": 1}
    text = words_of(plain(facts))
    assert "the machine was disturbed: the hypervisor took CPU time away (1)." in text
    assert "their number.\nOne repetition of " in text


def test_known_difference_is_found_in_every_percentile() -> None:
    condition = facts_of_trips(RoundTrips())["conditions"][0]
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
    trips = RoundTrips()
    table = make_round_trips(trips)
    table.loc[(table["rep"] == 2) & (table["msg_bytes"] == 64), "p99_ns"] = float("nan")
    config = {"round_trips": round_trips_config(trips), "measure": {"interval_us": 0}}
    facts = round_trip_facts(table, config, SETTINGS)
    assert facts is not None
    rows = facts["conditions"][0]["rows"]
    assert {row["msg_bytes"] for row in rows if row["p99_ns"] is None} == {64}


def test_loop_is_named() -> None:
    assert facts_of_trips(RoundTrips())["closed_loop"] is True
    assert facts_of_trips(RoundTrips(interval_us=100))["closed_loop"] is False


def test_nothing_asked_for_is_none_and_nothing_measured_has_its_reason() -> None:
    assert round_trip_facts(None, {}, SETTINGS) is None
    facts = facts_of_trips(RoundTrips(skipped="no namespaces"))["conditions"][0]
    assert facts["rows"] == facts["ratios"] == []
    assert facts["skipped"][0]["reason"] == "no namespaces"


def test_text_names_sizes_ratios_and_what_was_seen_nowhere() -> None:
    assert words_of(facts_of_trips(RoundTrips(repetitions=8, noise=0.01))) == (
        "- With `one_copy`, beside `two_copy`, the median round trip showed no difference at any "
        "size; the 99th percentile showed no difference at any size.\n"
        "- With `zero_copy` (zero-copy requested, 100 % copied), beside `two_copy`, the median "
        "round trip was 1.35 times as long at 4 KiB (95 % interval 1.34 to 1.36) and 1.35 times as "
        "long at 64 KiB (95 % interval 1.34 to 1.37), with no difference seen at 64 B; the 99th "
        "percentile was 1.36 times as long at 4 KiB (95 % interval 1.35 to 1.37) and 1.36 times as "
        "long at 64 KiB (95 % interval 1.33 to 1.38), with no difference seen at 64 B.\n\n\n"
        "Ratios are paired by round. Of 24 ratios, over all percentiles and sizes, 8 stand after "
        "Holm's correction for their number."
    )


def test_text_of_few_samples_and_one_round() -> None:
    assert "the 99th percentile was not compared, since the samples did not carry it." in words_of(
        facts_of_trips(RoundTrips(samples=500))
    )
    once = words_of(facts_of_trips(RoundTrips(repetitions=1)))
    assert "(observed once, no interval)" in once
    assert "Observed once: with one round, a ratio has no interval" in once
