"""The chapter on the CPU budget, and what its macros say in every branch."""

from dataclasses import replace

import pytest
from budgets import Study, Truth, facts_of
from golden.compare import GOLDEN, golden_text
from golden.sentences import chapter

from copycost.config.studies import FIGURES
from copycost.report import cpu_budget_tables

TEXTS = GOLDEN / "cpu_budget"
ONE, TWO = Truth(), Truth(n_threads=2, gbps_per_percent=0.19)
PAIR = Truth(testbed="vm_pair", gbps_per_percent=0.05, accelerator="tcg", ceiling=2.2, waiting=0.0)
IN_ONE = Truth(
    testbed="vm_loopback", gbps_per_percent=0.12, accelerator="tcg", shared=True,
    outside_per_inside=1.3, in_io=0.0, receiver_per_sender=0.3,
)  # fmt: skip


def profile(one: float, many: float) -> dict[str, object]:
    """Return facts of profiles with one and two streams, with such shares of copying."""

    def around(share: float) -> dict[str, float]:
        return {"median": share, "low": share - 0.02, "high": share + 0.02}

    def cell(n_threads: int, share: float) -> dict[str, object]:
        shares = {"Copying": share, "Waking up and scheduling": 0.1}
        rows = [{"title": title, "share": around(it)} for title, it in shares.items()]
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


WHY_NONE = "this host allows no network namespace (Operation not permitted)"
NO_NAMESPACE = ("veth", "skipped", WHY_NONE, "run as root")
BOTTLENECKS: dict[str, Study] = {
    "sender": Study(),
    "receiver": Study((Truth(receiver_per_sender=1.45, ceiling=19.0),)),
    "both": Study((Truth(receiver_per_sender=0.98),)),
    "host": Study((Truth(n_threads=2, ceiling=30.0, waiting=20.0),), host_cpus=2),
    "waiting": Study((Truth(ceiling=12.0, waiting=30.0),)),
    "limit": Study(limits=(10, 20, 30, 40)),
    "unknown": Study((Truth(ceiling=12.0, receiver_per_sender=0.5),)),
    "vcpu": Study((replace(PAIR, in_io=0.1),)),
    "io": Study((replace(PAIR, in_io=0.9),)),
    "vhost": Study(
        (replace(PAIR, accelerator="kvm", outside_per_inside=3.2, in_io=0.1, in_vhost=0.7),)
    ),
    "host over the wire": Study((Truth("wire-lab2", n_threads=2, ceiling=51.7),), host_cpus=2),
    "host at its end": Study(
        (Truth("wire-lab2", n_threads=2, ceiling=51.7, receiver_per_sender=1.02),), peer_cpus=2
    ),
    "vcpu_waiting": Study((replace(PAIR, vcpu_waiting=20.0),)),
}
SCALED: dict[str, tuple[Study, int | None]] = {
    "explained": (Study((ONE, TWO), profile=profile(0.5, 0.4)), 3),
    "same_shares": (Study((ONE, TWO), profile=profile(0.5, 0.495)), 0),
    "not_profiled": (Study((ONE, TWO)), None),
    "profile_of_another": (
        Study(
            (replace(ONE, implementation="two_copy"), replace(TWO, implementation="two_copy")),
            profile=profile(0.5, 0.4),
        ),
        None,
    ),
}
CHAPTERS = {
    "chapter": Study(
        (ONE, TWO, Truth(implementation="two_copy", bend=0.0006, noise=0.002)),
        lost=[NO_NAMESPACE],
        profile=profile(0.5, 0.4),
    ),
    "chapter_in_guests": Study((ONE, PAIR, IN_ONE)),
    "nothing_measured": Study((), lost=[NO_NAMESPACE]),
}
VERDICTS = {
    "a per cent of the senders' CPU buys": Study(),
    "The numbers above leave them out.": Study((ONE, TWO, PAIR)),
    "Where guests are called emulated": Study((PAIR,)),
    "No curve has three steps on a line": Study((Truth(bend=0.01, noise=0.002),)),
}


@pytest.mark.parametrize("name", BOTTLENECKS)
def test_the_bottleneck_is_what_was_full_or_waited_for(name: str) -> None:
    facts = facts_of(BOTTLENECKS[name])
    assert facts["curves"][-1]["bottleneck"]["kind"] == name.split()[0]
    assert cpu_budget_tables.curves(facts)[1][-1][-1]


@pytest.mark.parametrize("name", SCALED)
def test_what_moves_with_more_streams_is_told_from_profiles_of_both(name: str) -> None:
    study, n_moves = SCALED[name]
    (scaling,) = facts_of(study)["scaling"]
    assert (None if scaling["shares"] is None else len(scaling["shares"])) == n_moves
    assert scaling["maximum"]["differs"]


@pytest.mark.parametrize("said", VERDICTS)
def test_the_chapter_says_what_a_per_cent_buys_or_why_it_cannot(said: str) -> None:
    assert said in _text(VERDICTS[said])


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


def _text(study: Study) -> str:
    details = ["cpu_budget_details"] if study.truths else []
    return chapter("cpu_budget", facts_of(study), list(FIGURES["cpu_budget"]), *details)


def test_a_guest_that_told_of_another_time_leaves_gaps_with_words() -> None:
    text = _text(Study((replace(PAIR, off_window=True),)))
    assert "| not known |" in text
    assert "nan" not in text


def test_what_hardware_runs_is_never_called_emulated() -> None:
    guests = (replace(PAIR, accelerator="kvm"), replace(IN_ONE, accelerator="kvm"))
    assert "mulat" not in _text(Study(guests))
