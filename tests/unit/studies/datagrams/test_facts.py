"""What a datagram costs, its packets, and what was published of the like."""

from dataclasses import replace

import pytest
from datagram_tables import IN_ONE, PAIR, Study, Truth, facts_of

from copycost.studies.datagrams import chapter
from copycost.studies.datagrams.figures import points_table

COSTS = {
    "two_terms": (Study(), "both"),
    "per_datagram_only": (Study((Truth(ns_per_byte=0.0, noise=0.05),)), "per_datagram"),
    "per_byte_only": (Study((Truth(fixed_ns=0.0, ns_per_byte=0.5, noise=0.05),)), "per_byte"),
    "neither": (Study((Truth(noise=0.6),)), "neither"),
    "not_two_terms": (Study((Truth(bump=4.0),)), "no_sum"),
    "one_size": (Study(sizes=(1472,)), None),
    "once": (Study(repetitions=1), "both"),
}


@pytest.mark.parametrize("name", COSTS)
def test_the_terms_of_a_cost_that_are_seen_are_told(name: str) -> None:
    study, kind = COSTS[name]
    facts = facts_of(study)
    cost = facts["curves"][-1]["costs"]["sender"]
    assert (cost and cost["kind"]) == kind
    told = chapter.curves(facts)[1][-1][-2]
    assert ("per byte" in told) == (kind in ("both", "per_byte"))
    assert ("ns +" in told or ") +" in told) == (kind == "both")


def test_ours_stands_beside_what_was_published_of_such_datagrams() -> None:
    sizes = (1000, 10000, 65507)
    study = Study((PAIR, replace(PAIR, n_threads=2), IN_ONE), sizes=sizes)
    published = {(row["scenario"], row["msg_bytes"]): row for row in facts_of(study)["published"]}
    assert published["host-loopback", 65500]["ours"] == []
    for key, testbed in (
        (("vm-loopback", 65500), "vm_loopback_udp"),
        (("vm-to-vm", 65507), "vm_pair_udp"),
        (("vm-to-vm", 1000), "vm_pair_udp"),
    ):
        (ours,) = published[key]["ours"]
        assert (ours["testbed"], ours["emulated"]) == (testbed, True)
        assert abs(ours["msg_bytes"] - key[1]) < 10
    (ours,) = published["vm-to-vm", 1000]["ours"]
    assert ours["loss"]["median"] == pytest.approx(0.5, rel=0.01)
    only_other_sizes = facts_of(Study((PAIR,), sizes=(1472, 10000)))["published"]
    assert all(row["ours"] == [] for row in only_other_sizes)


@pytest.mark.parametrize(
    ("name", "is_drawn"), [("two_terms", True), ("neither", False), ("not_two_terms", False)]
)
def test_only_a_cost_that_is_told_has_a_line(name: str, is_drawn: bool) -> None:
    points = points_table(facts_of(COSTS[name][0]))
    fitted = points[points["quantity"] == "sender"]["fitted"]
    assert len(fitted) > 0
    assert set(fitted.notna()) == {is_drawn}
