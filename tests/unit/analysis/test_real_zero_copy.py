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
    ("scenario", "verdict"),
    [
        ("real_zero_copy", "smaller"),
        ("sink_cold_always", "smaller"),
        ("sink_hot_never", "smaller"),
        ("sink_hot_and_cold_alike", "no_difference"),
        ("sink_undecided", "untested"),
    ],
)
def test_size_with_bytes_from_memory(scenario: str, verdict: str) -> None:
    assert rows_of(scenario)["throughput"]["verdict"] == verdict


@pytest.mark.parametrize("scenario", ["sink_undecided", "real_zero_copy"])
def test_cost_that_is_the_throughput_says_nothing_more(scenario: str) -> None:
    assert set(rows_of(scenario)) == {"throughput"}
