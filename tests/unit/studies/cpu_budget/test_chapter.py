"""The chapter on the CPU budget, and what its macros say in every branch."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from budgets import Study, Truth, facts_of
from golden.compare import GOLDEN, golden_text
from golden.sentences import branches, chapter, sentences

from copycost.config.cpu_budget import FIGURES, FIGURES_OF_GUESTS

TEXTS = GOLDEN / "cpu_budget"
ONE, TWO = Truth(), Truth(n_threads=2, gbps_per_percent=0.19)
PAIR = Truth(testbed="vm_pair", gbps_per_percent=0.05, accelerator="tcg", ceiling=2.2, waiting=0.0)
IN_ONE = Truth(
    testbed="vm_loopback", gbps_per_percent=0.12, accelerator="tcg", shared=True,
    outside_per_inside=1.3, in_io=0.0, receiver_per_sender=0.3,
)  # fmt: skip
BENT = Truth(bend=0.0006, noise=0.002, receiver_per_sender=0.5)


def profile(one: float, many: float) -> dict[str, object]:
    """Return facts of profiles with one and two streams, with such shares of copying."""

    def around(share: float) -> dict[str, float]:
        return {"median": share, "low": share - 0.02, "high": share + 0.02}

    def cell(n_threads: int, share: float) -> dict[str, object]:
        shares = {"Copying": share, "Waking up and scheduling": 0.1}
        rows = [{"title": title, "own": {"share": around(it)}} for title, it in shares.items()]
        acknowledging = {"sender": around(0.05), "receiver": around(1.0 - 1.7 * share)}
        return {
            "implementation": "iperf3", "condition": "loopback", "msg_bytes": 131072,
            "n_threads": n_threads,
            "sides": {
                side: {"categories": rows, "acknowledging": it}
                for side, it in acknowledging.items()
            },
        }  # fmt: skip

    return {"cells": [cell(1, one), cell(2, many)]}


NO_NAMESPACE = (
    "veth",
    "skipped",
    "this host allows no network namespace (Operation not permitted)",
    "run as root",
)
OF_CURVE: dict[str, dict[str, Study]] = {
    "limiter_off": {
        "kept": Study(),
        "missed": Study((Truth(limiter_off=8.0),), limits=(10, 25, 40, 60)),
        "several": Study((ONE, Truth(implementation="two_copy", limiter="cpulimit"))),
    },
    "off_line": {
        "linear": Study(),
        "linear_up_to": Study((BENT,)),
        "not_linear": Study((Truth(bend=0.01, noise=0.002),)),
    },
    "bottleneck": {
        "sender": Study(),
        "receiver": Study((Truth(receiver_per_sender=1.45, ceiling=19.0),)),
        "both": Study((Truth(receiver_per_sender=0.98),)),
        "host": Study((Truth(n_threads=2, ceiling=30.0, waiting=20.0),), host_cpus=2),
        "waiting": Study((Truth(ceiling=12.0, waiting=30.0),)),
        "limit": Study(limits=(10, 20, 30, 40)),
        "unknown": Study((Truth(ceiling=12.0, receiver_per_sender=0.5),)),
        "once": Study(repetitions=1),
        "vcpu": Study((replace(PAIR, in_io=0.1),)),
        "vcpu_of_both": Study((replace(IN_ONE, ceiling=7.0),)),
        "waiting_in_guests": Study((replace(PAIR, waiting=30.0),)),
        "io": Study((replace(PAIR, in_io=0.9),)),
        "vhost": Study(
            (replace(PAIR, accelerator="kvm", outside_per_inside=3.2, in_io=0.1, in_vhost=0.7),)
        ),
        "host_of_guests": Study((replace(PAIR, vcpu_waiting=20.0, host_percent=370.0),)),
        "machine": Study((Truth("wire-lab2", n_threads=2, ceiling=51.7),), host_cpus=2),
        "other_machine": Study(
            (Truth("wire-lab2", n_threads=2, ceiling=51.7, receiver_per_sender=1.02),), peer_cpus=2
        ),
        "waiting_on_machines": Study((Truth("wire-lab2", ceiling=12.0, waiting=30.0),)),
        "vcpu_waiting": Study((replace(PAIR, vcpu_waiting=20.0),)),
        "sender_with_hardware": Study(
            (replace(PAIR, ceiling=1e9, accelerator="kvm", outside_per_inside=1.1),)
        ),
    },
}
OF_FACTS: dict[str, dict[str, Study]] = {
    "limiter": {
        "kept": Study(),
        "missed": Study((Truth(limiter_off=8.0),), limits=(10, 25, 40, 60)),
        "nothing_judged": Study((Truth(ceiling=1.0, receiver_per_sender=0.5),)),
    },
    "clocks": {
        "agree": Study((Truth(receiver_perf=0.995),)),
        "differ": Study((ONE, Truth(n_threads=2, perf=1.15, receiver_perf=0.75))),
        "not_counted": Study((Truth(perf=None),)),
    },
    "other_programs": {"ran": Study((Truth(flags="foreign_load"),))},
    "guests": {
        "emulated": Study((PAIR, IN_ONE)),
        "with_hardware": Study((replace(PAIR, accelerator="kvm"),)),
    },
}
SCALED: dict[str, Study] = {
    "explained": Study((ONE, TWO), profile=profile(0.5, 0.4)),
    "same_shares": Study((ONE, TWO), profile=profile(0.5, 0.495)),
    "not_profiled": Study((ONE, TWO)),
    "profile_of_another": Study(
        (replace(ONE, implementation="two_copy"), replace(TWO, implementation="two_copy")),
        profile=profile(0.5, 0.4),
    ),
    "no_difference": Study((ONE, Truth(n_threads=2, noise=0.05))),
    "no_gain": Study((Truth(ceiling=12.0), Truth(n_threads=2, ceiling=12.0))),
    "no_line": Study((Truth(testbed="veth"), Truth("veth", 2, ceiling=2.0))),
    "once": Study((replace(ONE, testbed="veth"), replace(TWO, testbed="veth")), repetitions=1),
}


def said(name: str, study: Study, of: Callable[[Mapping[str, Any]], tuple[object, ...]]) -> str:
    return sentences("cpu_budget_words", name, *of(facts_of(study)))


@pytest.mark.parametrize("name", OF_CURVE)
def test_each_branch_on_a_curve_says_the_golden_sentences(name: str) -> None:
    text = branches(
        {
            branch: said(name, study, lambda facts: (facts["curves"][-1], facts))
            for branch, study in OF_CURVE[name].items()
        }
    )
    assert text == golden_text(TEXTS / f"{name}.md", text)


@pytest.mark.parametrize("name", OF_FACTS)
def test_each_branch_on_the_study_says_the_golden_sentences(name: str) -> None:
    text = branches(
        {b: said(name, study, lambda facts: (facts,)) for b, study in OF_FACTS[name].items()}
    )
    assert text == golden_text(TEXTS / f"{name}.md", text)


def test_each_branch_on_more_streams_says_the_golden_sentences() -> None:
    text = branches(
        {
            branch: said("scaling", study, lambda facts: (facts["scaling"][-1], facts))
            for branch, study in SCALED.items()
        }
    )
    assert text == golden_text(TEXTS / "scaling.md", text)


def test_each_account_of_a_guest_says_the_golden_sentences() -> None:
    studies = {
        "pair": Study((PAIR,)),
        "both_in_one": Study((IN_ONE,)),
        "waited": Study((replace(PAIR, vcpu_waiting=12.0),)),
        "off_window": Study((replace(PAIR, off_window=True),)),
        "below_nothing": Study((replace(PAIR, outside_per_inside=1.1),)),
    }
    found = {branch: facts_of(study) for branch, study in studies.items()}
    text = branches(
        {
            f"{branch}, {one['side']}": sentences(
                "cpu_budget_words", "inside_outside", one, facts["curves"][0], facts
            )
            for branch, facts in found.items()
            for one in facts["curves"][0]["guests"]["spans"]
        }
    )
    assert text == golden_text(TEXTS / "inside_outside.md", text)


def test_the_chapter_with_guests_is_the_golden_one_and_says_that_they_are_emulated() -> None:
    facts = facts_of(Study((ONE, PAIR, IN_ONE)))
    text = chapter("cpu_budget", facts, [*FIGURES, *FIGURES_OF_GUESTS])
    assert text == golden_text(TEXTS / "chapter_in_guests.md", text)
    about = [line for line in text.splitlines() if "`vm_" in line and "On `" in line]
    assert about
    assert all("emulated" in line or "virtual machines" in line for line in about)


def test_a_guest_that_told_of_another_time_leaves_gaps_with_words() -> None:
    text = chapter("cpu_budget", facts_of(Study((replace(PAIR, off_window=True),))), [])
    assert "| not known |" in text
    assert "nan" not in text


def test_what_hardware_runs_is_never_called_emulated() -> None:
    guests = (replace(PAIR, accelerator="kvm"), replace(IN_ONE, accelerator="kvm"))
    text = chapter("cpu_budget", facts_of(Study(guests)), [*FIGURES, *FIGURES_OF_GUESTS])
    assert "mulat" not in text


def test_rates_that_agree_and_that_differ_say_the_golden_sentences() -> None:
    studies = {"agree": Study(), "differ": Study((Truth(kernel=1.08),))}
    text = branches(
        {b: said("rates", study, lambda facts: (facts["rates"],)) for b, study in studies.items()}
    )
    assert text == golden_text(TEXTS / "rates.md", text)


def test_the_whole_chapter_is_the_golden_one() -> None:
    study = Study(
        (ONE, TWO, Truth(implementation="two_copy", bend=0.0006, noise=0.002)),
        lost=[NO_NAMESPACE],
        profile=profile(0.5, 0.4),
    )
    text = chapter("cpu_budget", facts_of(study), list(FIGURES))
    assert text == golden_text(TEXTS / "chapter.md", text)


def test_a_study_without_values_has_its_reasons() -> None:
    text = chapter("cpu_budget", facts_of(Study((), lost=[NO_NAMESPACE])), [])
    assert text == golden_text(TEXTS / "nothing_measured.md", text)


def test_a_single_repetition_says_the_golden_sentence() -> None:
    section = facts_of(Study(repetitions=1))["section"]
    text = branches({"once": sentences("study_words", "intervals", section)})
    assert text == golden_text(TEXTS / "intervals.md", text)


def test_one_repetition_has_a_chapter_without_intervals() -> None:
    text = chapter("cpu_budget", facts_of(Study(repetitions=1)), [])
    assert "A single repetition gives no intervals." in text
    assert "% intervals" not in text
