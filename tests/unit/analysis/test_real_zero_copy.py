"""Where zero-copy gets ahead with bytes from memory, compared with bytes from a cache."""

import pytest
from analysed import facts_of
from golden.scenarios import SCENARIOS

from copycost.analysis.json_values import Facts

pytestmark = pytest.mark.slow


def rows_of(scenario: str) -> dict[str, Facts]:
    rows = facts_of(SCENARIOS[scenario])["real_zero_copy"]["cold_beside_hot"]
    return {row["measure"]: row for row in rows if row["implementation"] == "zero_copy"}


@pytest.mark.parametrize(
    ("scenario", "verdict", "settled"),
    [
        ("real_zero_copy", "smaller", "both"),
        ("sink_cold_always", "smaller", "both"),
        ("sink_hot_never", "smaller", "both"),
        ("sink_hot_and_cold_alike", "no_difference", "both"),
        ("sink_undecided", "untested", "neither"),
    ],
)
def test_size_with_bytes_from_memory(scenario: str, verdict: str, settled: str) -> None:
    row = rows_of(scenario)["throughput"]
    assert (row["verdict"], row["settled"], row["as_throughput"]) == (verdict, settled, False)


@pytest.mark.parametrize("scenario", ["sink_undecided", "real_zero_copy"])
def test_cost_that_is_the_throughput_says_nothing_more(scenario: str) -> None:
    assert set(rows_of(scenario)) == {"throughput"}
    pairs = facts_of(SCENARIOS[scenario])["real_zero_copy"]["pairs"]
    assert not any(pair["cost_groups"] for pair in pairs if pair["sender_only"])
