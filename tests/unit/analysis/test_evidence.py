"""Explanations appear only as their evidence allows."""

import math
from collections import Counter
from collections.abc import Mapping

import pytest
from analysed import asked, facts_of
from synthetic import IMPLEMENTATIONS, Run, Udp

from copycost.analysis.expectations import EXPECTATIONS

pytestmark = pytest.mark.slow

SMALL = {"msg_bytes": (1024, 65536), "n_threads": (1, 2)}


def test_counter_that_reads_0_everywhere_is_not_counted() -> None:
    facts = facts_of(Run(**SMALL, counters=True, zero_events=("llc_load_misses",)))
    assert facts["counters"]["llc_load_misses"]["status"] == "zero"
    assert {one.quantity for one in asked(facts, "misses")} == {"l1d_load_misses_per_byte"}


def test_every_expectation_is_said_and_tested() -> None:
    names = (*IMPLEMENTATIONS, "sendmmsg", "sendmmsg_x16", "uring_zero_copy")
    udp = Udp(implementations=names, testbeds=("sink", "veth_udp"))
    grid = {"msg_bytes": (1024, 65536), "n_threads": (1, 2, 4), "cpus": 4}
    # the four CPUs are all in use
    busy = {"both_cpu_ns_per_byte": lambda row: 4e9 / row["received_bytes"]}
    runs = [
        Run(**grid, counters=True, udp=udp),
        Run(**grid, counters=True, changes=busy, copied_share=lambda msg_bytes: 0.0),
    ]
    tested = set()
    for facts in map(facts_of, runs):
        for one in asked(facts, "expectation"):
            tested.add(one.subject)
            assert 0 <= (one.n_better or 0) + (one.n_worse or 0) <= (one.n_cells or 0)
            bed = facts["conditions"][one.condition]
            assert ("the sender" in one.reference) <= bed["sender_only"]
    assert tested == {expectation.id for expectation in EXPECTATIONS}


@pytest.mark.parametrize(("testbed", "is_told"), [("sink", False), ("wire_sink-lab2", True)])
def test_cost_is_a_finding_only_where_it_is_not_the_throughput(testbed: str, is_told: bool) -> None:
    """Where nobody receives and no link holds the sender, one is the other turned upside down."""
    udp = Udp(testbeds=(testbed,), msg_bytes=(16384, 65507), working_sets=("hot",))
    found = asked(facts_of(Run(testbeds=(), repetitions=3, udp=udp)), "expectation")
    assert any(one.quantity == "cost" for one in found) == is_told
    assert any(one.quantity == "throughput" for one in found)


def test_zero_copy_need_not_pay_where_it_is_copied() -> None:
    for share, n_tested in ((1.0, 0), (0.0, 2)):
        facts = facts_of(Run(**SMALL, copied_share=lambda msg_bytes, share=share: share))
        tested = Counter({one.subject: one.n_cells for one in asked(facts, "expectation")})
        assert tested["zero_copy_pays"] == tested["zero_copy_cheaper"] == n_tested
        assert tested["copied_costs_more"] == (4 if share else 0)
        # a thread on each CPU does not make the CPUs busy: here 1.5 of two are, one pair or more
        assert tested["threads_gain_while_idle"] == 6
        assert tested["threads_gain_nothing_when_full"] == 0


def test_sizes_that_part_have_no_mean() -> None:
    """What rises with small messages and falls with large ones has no course, and no growth."""

    def switches(row: Mapping[str, float]) -> float:
        grown = 2.0 if row["msg_bytes"] < 4096 else 0.5
        return 0.01 * grown ** (row["n_threads"] - 1) * (1 + 0.001 * row["rep"])

    run = Run(
        msg_bytes=(256, 1024, 16384, 65536),
        n_threads=(1, 2, 4),
        log_ratio=lambda name, size, n: (0.3 if size < 4096 else -0.3) * math.log2(n),
        scaling=lambda n_threads: 1.0,
        changes={"context_switches_per_message": switches},
    )
    for found in asked(facts_of(run), "threads"):
        assert (found.verdict, found.estimate) == ("by_size", None)
        assert found.reason("cpus_in_use") is None
        grown = found.reason("context_switches_per_message")
        assert grown is not None
        assert (grown.verdict, grown.estimate) == ("cells_disagree", None)
