"""Explanations appear only as their evidence allows."""

from collections.abc import Mapping

import pytest
from analysed import facts_of, text_of
from synthetic import IMPLEMENTATIONS, Run, Udp

from copycost.analysis.evidence import PREDICATES, weigh_one
from copycost.analysis.expectations import EXPECTATIONS
from copycost.stats.ratios import Direction, Ratio

pytestmark = pytest.mark.slow

BY_ID = {predicate.id: predicate for predicate in PREDICATES}
SMALL = {"msg_bytes": (1024, 65536), "n_threads": (1, 2)}


@pytest.mark.parametrize(
    ("value", "weight"),
    [(None, "not_measured"), (1.0, "shown"), (0.999, "shown"), (0.5, "contradicted")],
)
def test_threshold_decides(value: float | None, weight: str) -> None:
    fact = weigh_one(BY_ID["all_copied"], value)
    assert (fact["weight"], fact["value"]) == (weight, value)


def test_an_open_interval_leaves_the_explanation_open() -> None:
    ratio = Ratio(3, 1.4, 0.9, 2.2, 0.1, Direction.NO_DIFFERENCE)
    assert weigh_one(BY_ID["switches_grow_with_threads"], ratio)["weight"] == "undecided"


def test_counter_that_reads_0_everywhere_is_not_counted() -> None:
    facts = facts_of(Run(**SMALL, counters=True, zero_events=("llc_load_misses",)))
    assert facts["counters"]["llc_load_misses"]["status"] == "zero"
    question = facts["conditions"]["veth"]["questions"]["q2"]
    assert {fall["level"] for fall in question["falls"]} == {"l1d_load_misses"}


def all_busy(row: Mapping[str, object]) -> float:
    """Return CPU time per byte with which the four CPUs are all in use."""
    return 2e9 / float(str(row["received_bytes"]))


def test_every_expectation_is_said_and_tested() -> None:
    names = (*IMPLEMENTATIONS, "sendmmsg", "sendmmsg_x16", "uring_zero_copy")
    udp = Udp(implementations=names, testbeds=("sink", "veth_udp"))
    grid = {"msg_bytes": (1024, 65536), "n_threads": (1, 2, 4), "cpus": 4}
    busy = {"both_cpu_ns_per_byte": lambda row: 2 * all_busy(row)}
    runs = [
        Run(**grid, counters=True, udp=udp),
        Run(**grid, counters=True, changes=busy, copied_share=lambda msg_bytes: 0.0),
    ]
    tested = set()
    for bed in (bed for run in runs for bed in facts_of(run)["conditions"].values()):
        rows = bed["questions"]["q6"]["expectations"]
        assert [row["id"] for row in rows] == [expectation.id for expectation in EXPECTATIONS]
        tested |= {row["id"] for row in rows if row["n_tested"]}
        for row in rows:
            assert row["n_held"] + row["n_open"] + row["n_violated"] == row["n_tested"]
            assert ("the sender" in row["statement"]) <= bed["sender_only"]
    assert tested == {expectation.id for expectation in EXPECTATIONS}


@pytest.mark.parametrize(("testbed", "is_told"), [("sink", False), ("wire_sink-lab2", True)])
def test_cost_is_a_finding_only_where_it_is_not_the_throughput(testbed: str, is_told: bool) -> None:
    """Where nobody receives and no link holds the sender, one is the other turned upside down."""
    udp = Udp(testbeds=(testbed,), msg_bytes=(16384, 65507), working_sets=("hot",))
    facts = facts_of(Run(testbeds=(), repetitions=3, udp=udp))["conditions"][testbed]
    rows = facts["questions"]["q6"]["expectations"]
    assert any(row["n_tested"] for row in rows if row["quantity"] == "cost") == is_told
    assert any(row["n_tested"] for row in rows if row["quantity"] == "throughput")


def test_zero_copy_need_not_pay_where_it_is_copied() -> None:
    for share, n_tested in ((1.0, 0), (0.0, 2)):
        facts = facts_of(Run(**SMALL, copied_share=lambda msg_bytes, share=share: share))
        rows = facts["conditions"]["veth"]["questions"]["q6"]["expectations"]
        tested = {row["id"]: row["n_tested"] for row in rows}
        assert tested["zero_copy_pays"] == tested["zero_copy_cheaper"] == n_tested
        assert tested["copied_costs_more"] == (4 if share else 0)
        # a thread on each CPU does not make the CPUs busy: here 1.5 of two are, one pair or more
        assert tested["threads_gain_while_idle"] == 6
        assert tested["threads_gain_nothing_when_full"] == 0


def test_what_is_violated_throughout_comes_before_what_is_violated_here_and_there() -> None:
    """4 of 4 by 10 % before 1 of 12 by 40 %, though the latter is the stronger single case."""

    def truth(name: str, size: int, threads: int) -> float:
        return (-0.1 if name == "one_copy" else 0.0) - 0.34 * (
            (name, size, threads) == ("two_copy", 65536, 1)
        )

    run = Run(
        msg_bytes=(16384, 65536),
        n_threads=(1, 2, 4, 8),
        implementations=("two_copy", "one_copy"),
        log_ratio=truth,
        size_bend=-0.5,
        noise=0.005,
        repetitions=7,
        scaling=lambda n_threads: 1.2**n_threads,
    )
    violations = facts_of(run)["conditions"]["veth"]["questions"]["q6"]["violations"]
    means = [row["mean"] for row in violations]
    assert len(means) > 1
    assert means == sorted(means, reverse=True)


def test_cells_that_contradict_each_other_are_not_averaged() -> None:
    def truth(name: str, size: int, threads: int) -> float:
        return {1024: -0.5, 65536: 0.5}[size] if name == "zero_copy" else 0.0

    facts = facts_of(Run(msg_bytes=(1024, 65536), n_threads=(1,), noise=0.005, log_ratio=truth))
    questions = facts["conditions"]["veth"]["questions"]
    (cost,) = (row for row in questions["q2"]["costs"] if row["implementation"] == "zero_copy")
    assert (cost["n_cells"], cost["n_above"], cost["n_below"]) == (2, 1, 1)
    assert cost["contradict"]
    question = questions["q1"]
    # What explains the loss is of the cell that lost, and the other way round.
    for way, sign in (("slower", 1), ("faster", -1)):
        first = question[way]["explained"]["factors"][0]
        assert question[way]["n_cells"] == 1
        assert (first["name"], first["ratio"]["sign"]) == ("cost", sign)
    assert "--- | less in 1, more in 1 |" in text_of(facts, "analysis")
