"""The chapter on datagrams, and what its macros say in every branch."""

from dataclasses import replace

import pytest
from datagram_tables import Study, Truth, facts_of
from golden.compare import GOLDEN, golden_text
from golden.sentences import chapter

from copycost.config.studies import FIGURES
from copycost.report import datagrams_tables
from copycost.studies.datagrams.figures import points_table

TEXTS = GOLDEN / "datagrams"
ONE, TWO = Truth(), Truth(n_threads=2, loss=0.4)
PAIR = Truth(
    testbed="vm_pair_udp", accelerator="tcg", loss=0.5, in_tap=0.9, in_bridge=0.02, most_packets=45
)
IN_ONE = Truth(testbed="vm_loopback_udp", accelerator="tcg", shared=True)
TOO_OLD = (
    "skipped",
    "iperf3 3.1.3 is too old: its JSON lacks what is needed here",
    "install iperf3 3.5 or newer",
)
CHAPTERS = {
    "chapter": Study(
        (ONE, TWO, Truth(implementation="two_copy", driver_knows=False)),
        lost=[TOO_OLD],
    ),
    "chapter_in_guests": Study((ONE, PAIR, IN_ONE)),
    "nothing_measured": Study((), lost=[TOO_OLD]),
}
WORDS = {
    "counters give a cause for each.": Study(),
    "counters give a cause for all but": Study((Truth("wire_udp-lab2", unaccounted=5),)),
    "Not one of": Study((Truth(loss=0.0),)),
    "so the losses are unknown.": Study((Truth(counted=False),)),
    "Where guests are called emulated": Study((PAIR,)),
}
COSTS = {
    "two_terms": (Study(), "both"),
    "per_datagram_only": (Study((Truth(ns_per_byte=0.0, noise=0.05),)), "per_datagram"),
    "per_byte_only": (Study((Truth(fixed_ns=0.0, ns_per_byte=0.5, noise=0.05),)), "per_byte"),
    "neither": (Study((Truth(noise=0.6),)), "neither"),
    "not_two_terms": (Study((Truth(bump=4.0),)), "no_sum"),
    "one_size": (Study(sizes=(1472,)), None),
    "once": (Study(repetitions=1), "both"),
}


@pytest.mark.parametrize("said", WORDS)
def test_the_chapter_says_what_became_of_the_datagrams(said: str) -> None:
    assert said in _text(WORDS[said])


@pytest.mark.parametrize("name", COSTS)
def test_the_terms_of_a_cost_that_are_seen_are_told(name: str) -> None:
    study, kind = COSTS[name]
    facts = facts_of(study)
    cost = facts["curves"][-1]["costs"]["sender"]
    assert (cost and cost["kind"]) == kind
    told = datagrams_tables.curves(facts)[1][-1][-2]
    assert ("per byte" in told) == (kind in ("both", "per_byte"))
    assert ("ns +" in told or ") +" in told) == (kind == "both")


@pytest.mark.parametrize("name", ["chapter", "nothing_measured"])
def test_the_whole_chapter_is_the_golden_one(name: str) -> None:
    text = _text(CHAPTERS[name])
    assert text == golden_text(TEXTS / f"{name}.md", text)


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_chapter_says_which_guests_are_emulated(name: str) -> None:
    text = _text(CHAPTERS[name])
    rows = [line for line in text.splitlines() if line.startswith("| `vm_")]
    assert bool(rows) == (name == "chapter_in_guests")
    assert all("emulated" in row for row in rows)


def test_what_hardware_runs_is_never_called_emulated() -> None:
    guests = (replace(PAIR, accelerator="kvm"), replace(IN_ONE, accelerator="kvm"))
    assert "mulat" not in _text(Study(guests))


def _text(study: Study) -> str:
    details = ["datagrams_details"] if study.truths else []
    return chapter("datagrams", facts_of(study), list(FIGURES["datagrams"]), *details)


def test_packets_as_large_as_without_guests_are_not_told() -> None:
    assert facts_of(Study((ONE, replace(PAIR, most_packets=1))))["other_packets"] == []
    assert facts_of(Study((PAIR,)))["other_packets"] == []


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


@pytest.mark.parametrize(("noise", "is_drawn"), [(0.02, True), (0.6, False)])
def test_only_a_cost_that_is_told_has_a_line(noise: float, is_drawn: bool) -> None:
    points = points_table(facts_of(Study((Truth(noise=noise),))))
    of_sender = points[points["quantity"] == "sender"]
    assert len(of_sender) > 0
    assert of_sender["fitted"].notna().all() == is_drawn
    assert of_sender["fitted"].isna().all() != is_drawn
