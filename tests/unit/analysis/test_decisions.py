"""The decision tables of runs whose truth is known."""

from collections import Counter

import numpy as np
import pytest
from analysed import facts_of, inputs_of
from synthetic import Run, Udp

from copycost.analysis.decisions import are_together
from copycost.analysis.json_values import Facts
from copycost.analysis.stats.settings import FloatArray

pytestmark = pytest.mark.slow

KIB = 1024
QUIET = {"msg_bytes": (4 * KIB, 64 * KIB), "n_threads": (1, 2), "repetitions": 5, "noise": 0.01}


def decisions(run: Run, slug: str = "veth") -> Facts:
    found: Facts = facts_of(run)["conditions"][slug]["decisions"]
    return found


def test_thread_counts_that_contradict_each_other_are_told_apart() -> None:
    def turning(name: str, size: int, n_threads: int) -> float:
        return {"one_copy": 0.3 if n_threads == 1 else -0.3, "zero_copy": -0.6}.get(name, 0.0)

    found = decisions(Run(**QUIET, log_ratio=turning))
    told = [(row["n_threads"], row["fastest"]["subject"]) for row in found["rows"]]
    assert told == [([1], "one_copy"), ([2], "two_copy")] * 2


def test_a_way_that_lacks_a_thread_count_is_not_told_together() -> None:
    run = Run(**QUIET, failed=lambda name, size, n, rep: (name, n) == ("one_copy", 2))
    found = decisions(run)
    assert [row["n_threads"] for row in found["rows"]] == [[1], [2]] * 2
    assert [row["missing"] for row in found["rows"]] == [[], ["one_copy"]] * 2
    assert "one_copy" not in found["rows"][1]["fastest"]["subject"]


def test_where_nobody_receives_the_price_is_the_senders() -> None:
    run = Run(**QUIET, udp=Udp(msg_bytes=(32 * KIB,), working_sets=("hot",)))
    cells = inputs_of(run).cells
    here = cells[(cells["testbed"] == "sink") & (cells["implementation"] == "zero_copy")]
    row = decisions(run, "sink")["rows"][0]
    assert row["cheapest"]["subject"] == "zero_copy"
    assert row["price"]["low"] == pytest.approx(1.25 * here["sender_cpu_ns_per_byte"].median())


def test_settled_allows_for_the_rows_of_the_table() -> None:
    """Among many sizes without a difference some are named, and hardly any is settled."""
    run = Run(
        implementations=("two_copy", "one_copy"),
        msg_bytes=tuple(256 * 2**k for k in range(40)),
        n_threads=(1,),
        noise=0.05,
        log_ratio=lambda *cell: 0.0,
    )
    rows = decisions(run)["rows"]
    told = Counter(row["fastest"]["verdict"] for row in rows)
    assert (told["best"], 1 <= told["unsure"] <= 6) == (0, True)


def test_the_interval_beside_a_name_is_the_one_that_the_name_rests_on() -> None:
    grid = QUIET | {"msg_bytes": [2**k for k in range(6, 20)], "noise": 0.05}
    run = Run(**grid, log_ratio=lambda name, *_: 0.09 * (name == "one_copy"))
    answers = [row["fastest"] for row in decisions(run)["rows"]]
    best = [one for one in answers if one["verdict"] in ("best", "unsure")]
    assert 0 < len(best) < len(answers)
    assert all(one["low"] > 1.0 for one in best)


def cells(*leads: tuple[float, ...], spread: float = 0.01, n_rounds: int = 5) -> FloatArray:
    """Return ways by their leads with each thread count."""
    noise = np.random.default_rng(1).normal(size=(len(leads), len(leads[0]), n_rounds))
    return np.array(leads)[:, :, None] + spread * noise


@pytest.mark.parametrize(
    ("logs", "together"),
    [
        (cells((0.0, 0.0), (0.3, 0.2)), True),
        (cells((0.0, 0.0), (0.3, -0.2)), False),
        (cells((0.0, 0.0), (0.3, -0.2), spread=1.0), True),
        # The last two change places, but neither is named.
        (cells((0.5, 0.5), (0.0, 0.2), (0.2, 0.0)), True),
        (cells((0.0,), (0.3,)), True),
    ],
)
def test_thread_counts_are_together_unless_they_contradict(
    logs: FloatArray, together: bool
) -> None:
    assert are_together(logs, 0.95) is together
