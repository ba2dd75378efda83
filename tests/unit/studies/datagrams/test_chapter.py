"""The chapter on datagrams, and what its macros say in every branch."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from datagram_tables import Study, Truth, facts_of
from golden.compare import GOLDEN, golden_text
from golden.sentences import branches, chapter, sentences

from copycost.config.datagrams import FIGURES
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


def profile() -> dict[str, object]:
    """Return facts of profiles of three sizes, of which the outer two are told."""

    def cell(size: int) -> dict[str, object]:
        rows = [
            {"title": "Copying", "own": {"share": {"median": size / 100_000}}},
            {"title": "Protocol", "own": {"share": {"median": 0.3}}},
        ]
        return {
            "implementation": "iperf3", "testbed": "veth_udp", "condition": "veth_udp",
            "n_threads": 1, "msg_bytes": size, "sides": {"sender": {"categories": rows}},
        }  # fmt: skip

    return {"cells": [cell(64), cell(1472), cell(65507)]}


Of = Callable[[Mapping[str, Any]], tuple[object, ...]]
MACROS: dict[str, tuple[Of, dict[str, Study]]] = {
    "clock": (
        lambda facts: (facts["cpu_clock"],),
        {
            "perf": Study(),
            "scheduler": Study((Truth(cpu_clock="scheduler"),)),
            "mixed": Study((ONE, Truth(n_threads=2, cpu_clock="scheduler"))),
        },
    ),
    "other_programs": (
        lambda facts: (facts,),
        {"ran": Study((Truth(flags="foreign_load"),))},
    ),
    "most": (
        lambda facts: (facts["curves"][-1], facts),
        {
            "lost": Study(),
            "nothing_lost": Study((Truth(loss=0.0),)),
            "not_counted": Study((Truth(counted=False),)),
            "restless": Study((Truth(bump=1.3, noise=0.4),)),
            "our_sender": Study((ONE, Truth(implementation="two_copy"))),
            "once": Study(repetitions=1),
        },
    ),
    "account": (
        lambda facts: (facts["account"],),
        {
            "one_cause": Study(),
            "two_causes": Study((Truth(in_socket_memory=0.25),)),
            "no_cause": Study((Truth(causeless=True),)),
            "nothing_lost": Study((Truth(loss=0.0),)),
            "not_counted": Study((Truth(counted=False),)),
            "incomplete": Study((Truth(unaccounted=5, drained=False),)),
            "causes_too_many": Study((Truth(unaccounted=-7),)),
            "incomplete_in_part": Study((ONE, Truth(n_threads=2, unaccounted=5))),
            "once": Study(sizes=(1472,), repetitions=1),
            "in_guests": Study((PAIR,)),
        },
    ),
    "account_on_the_way": (
        lambda facts: (facts["curves"][-1], facts),
        {
            "lost": Study((Truth("wire_udp-lab2", unaccounted=5),)),
            "explained": Study((Truth("wire_udp-lab2"),)),
            "nothing_lost": Study((Truth("wire_udp-lab2", loss=0.0),)),
        },
    ),
    "limit": (
        lambda facts: (facts["curves"][-1],),
        {
            "none": Study(),
            "everywhere": Study((Truth("wire_udp-lab2", limit_share=(1.0,) * 9),)),
            "somewhere": Study((Truth("wire_udp-lab2", limit_share=(1.0, 0.99, *(0.5,) * 7)),)),
            "nowhere": Study((Truth("wire_udp-lab2", limit_share=(0.5,) * 9),)),
        },
    ),
    "account_in_guests": (
        lambda facts: (facts["curves"][-1], facts),
        {
            "tap": Study((PAIR,)),
            "with_hardware": Study((replace(PAIR, accelerator="kvm", most_packets=1),)),
            "nothing_lost": Study((replace(PAIR, loss=0.0),)),
        },
    ),
    "guests": (
        lambda facts: (facts,),
        {
            "emulated": Study((PAIR, IN_ONE)),
            "with_hardware": Study((replace(PAIR, accelerator="kvm"),)),
        },
    ),
    "inside_outside": (
        lambda facts: (facts["curves"][-1]["guests"]["spans"][-1], facts["curves"][-1], facts),
        {"pair": Study((PAIR,)), "both_in_one": Study((IN_ONE,))},
    ),
    "cross_check": (
        lambda facts: (facts["cross_check"],),
        {
            "agrees": Study(),
            "too_small": Study((Truth(driver_misses=0.03),)),
            "too_large": Study((Truth(driver_misses=-0.03),)),
            "both": Study((Truth(driver_misses=-0.03), Truth(driver_misses=0.02, n_threads=2))),
            "negative": Study((Truth(loss=0.0, negative=True, out_of_order=7),)),
            "not_known": Study((Truth(driver_knows=False),)),
        },
    ),
    "other_packets": (
        lambda facts: (facts["other_packets"][0],),
        {
            "emulated": Study((ONE, PAIR)),
            "with_hardware": Study((ONE, replace(PAIR, accelerator="kvm"))),
        },
    ),
    "no_numbers": (
        lambda facts: (facts,),
        {"some": Study((Truth(driver_knows=False, flags="iperf3_nan"),))},
    ),
    "not_profiled": (lambda facts: (), {"none": Study()}),
    "cost": (
        lambda facts: (facts["curves"][-1], "sender", facts),
        {
            "two_terms": Study(),
            "even_beyond_a_datagram": Study((Truth(ns_per_byte=0.01),)),
            "even_near_the_largest": Study((Truth(ns_per_byte=0.022),)),
            "per_datagram_only": Study((Truth(ns_per_byte=0.0, noise=0.05),)),
            "per_byte_only": Study((Truth(fixed_ns=0.0, ns_per_byte=0.5, noise=0.05),)),
            "neither": Study((Truth(noise=0.6),)),
            "not_two_terms": Study((Truth(bump=4.0),)),
            "two_sizes": Study(sizes=(64, 1472)),
            "one_size": Study(sizes=(1472,)),
            "once": Study(repetitions=1),
        },
    ),
}


@pytest.mark.parametrize("name", MACROS)
def test_each_branch_says_the_golden_sentences(name: str) -> None:
    of, studies = MACROS[name]
    text = branches(
        {
            branch: sentences("datagrams_words", name, *of(facts_of(study)))
            for branch, study in studies.items()
        }
    )
    assert text == golden_text(TEXTS / f"{name}.md", text)


def test_rare_causes_say_the_golden_sentences() -> None:
    shares = {"device": 0.5, "reassembly": 0.1, "other": 0.4}
    causes = [{"cause": cause, "share": share} for cause, share in shares.items()]
    told = sentences(
        "datagrams_words", "causes", {"lost": 10, "causes": causes, "in_packets": False}
    )
    text = branches({"device_reassembly_and_other": told})
    assert text == golden_text(TEXTS / "causes.md", text)


def test_the_whole_chapter_is_the_golden_one() -> None:
    truths = (ONE, TWO, Truth(implementation="two_copy", driver_knows=False))
    study = Study(truths, lost=[TOO_OLD], profile=profile())
    text = chapter("datagrams", facts_of(study), list(FIGURES))
    assert text == golden_text(TEXTS / "chapter.md", text)


def test_the_chapter_says_how_fast_the_senders_were_allowed_to_be() -> None:
    held = Truth("wire_udp-lab2", limit_share=(1.0,) * 9)
    for truths, words in (
        ((held,), "sent datagrams as fast as was allowed,"),
        ((ONE, held), "sent datagrams as fast as could be, or as was allowed over a wire,"),
        ((ONE,), "sent datagrams as fast as could be,"),
    ):
        assert words in " ".join(chapter("datagrams", facts_of(Study(truths)), []).split())


def test_the_chapter_with_guests_is_the_golden_one_and_says_that_they_are_emulated() -> None:
    text = chapter("datagrams", facts_of(Study((ONE, PAIR, IN_ONE))), list(FIGURES))
    assert text == golden_text(TEXTS / "chapter_in_guests.md", text)
    about = [line for line in text.splitlines() if "`vm_" in line and "n `" in line]
    assert about
    assert all("emulated" in line or "virtual machines" in line for line in about)


def test_what_hardware_runs_is_never_called_emulated() -> None:
    guests = (replace(PAIR, accelerator="kvm"), replace(IN_ONE, accelerator="kvm"))
    assert "mulat" not in chapter("datagrams", facts_of(Study(guests)), list(FIGURES))


def test_a_study_without_values_has_its_reasons() -> None:
    text = chapter("datagrams", facts_of(Study((), lost=[TOO_OLD])), [])
    assert text == golden_text(TEXTS / "nothing_measured.md", text)


def test_one_repetition_without_profiles_says_what_is_not_known() -> None:
    text = chapter("datagrams", facts_of(Study(repetitions=1)), [])
    assert "A single repetition gives no intervals." in text
    assert "% intervals" not in text
    assert "no datagrams were profiled" in text


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


def test_losses_that_nobody_counted_are_not_known() -> None:
    text = chapter("datagrams", facts_of(Study((Truth(counted=False),))), [])
    assert "| not known |" in text


@pytest.mark.parametrize(("noise", "is_drawn"), [(0.02, True), (0.6, False)])
def test_only_a_cost_that_is_told_has_a_line(noise: float, is_drawn: bool) -> None:
    points = points_table(facts_of(Study((Truth(noise=noise),))))
    of_sender = points[points["quantity"] == "sender"]
    assert len(of_sender) > 0
    assert of_sender["fitted"].notna().all() == is_drawn
    assert of_sender["fitted"].isna().all() != is_drawn
