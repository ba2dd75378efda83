"""The chapter on where the CPU time goes, and what its macros say in every branch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from golden.compare import GOLDEN, golden_text
from golden.sentences import branches, chapter, sentences
from unit.studies.profile.made import (
    REAL_ZERO_COPY,
    RECEIVER,
    SENDER,
    UDP_RECEIVER,
    UDP_SENDER,
    ZERO_COPY,
    Cell,
    config,
    facts_of,
)

from copycost.studies.profile.grid import cell_keys
from copycost.studies.profile.names import figure_names

TEXTS = GOLDEN / "profile"

TWO = Cell("two_copy", {"sender": SENDER, "receiver": RECEIVER})
ZERO = Cell("zero_copy", {"sender": ZERO_COPY, "receiver": RECEIVER}, copied_share=1.0)
_UDP = {stack.replace("tcp", "udp"): share for stack, share in SENDER.items()}
_ONE = {stack: share for stack, share in SENDER.items() if "memmove" not in stack}
_SINK = {"testbed": "sink", "working_set": "cold", "cpu_s": {"sender": 0.9}}


def _changed(stacks: dict[str, int], **more: int) -> dict[str, int]:
    outer = "__send;entry_SYSCALL_64_after_hwframe_[k];"
    return {**stacks, **{f"{outer}{name}_[k]": share for name, share in more.items()}}


def _without(stacks: dict[str, int], function: str) -> dict[str, int]:
    return {stack: share for stack, share in stacks.items() if function not in stack}


SCENARIOS: dict[str, tuple[list[Cell], dict[str, Any]]] = {
    "deferred_copy": ([TWO, ZERO], {}),
    "once": (
        [
            Cell("two_copy", {"sender": SENDER, "receiver": RECEIVER}, repetitions=1),
            Cell("zero_copy", {"sender": ZERO_COPY, "receiver": RECEIVER}, repetitions=1),
        ],
        {"repetitions": 1},
    ),
    "real_zero_copy": (
        [
            Cell("two_copy", {"sender": _UDP}, **_SINK, msg_bytes=65507),
            Cell("zero_copy", {"sender": REAL_ZERO_COPY}, **_SINK, msg_bytes=65507,
                 gigabytes=8.0, copied_share=0.0),
        ],
        {},
    ),
    "restless": (
        [
            Cell("two_copy", {"sender": SENDER, "receiver": RECEIVER}, wobble=(1.0, 2.2, 0.6)),
            Cell("zero_copy", {"sender": ZERO_COPY, "receiver": RECEIVER}, wobble=(1.9, 0.7, 1.0),
                 overhead=(0.7, 1.4, 1.0), copied_share=0.97),
        ],
        {},
    ),
    "cycles": (
        [
            Cell("iperf3", {"sender": SENDER, "receiver": RECEIVER}, testbed="loopback",
                 msg_bytes=131072, source="hardware", lost=120, truncated=True,
                 overhead=(0.9, 0.91, 0.9)),
            Cell("iperf3", {"sender": SENDER, "receiver": RECEIVER}, testbed="loopback",
                 msg_bytes=131072, n_threads=2, source="hardware", overhead=(0.9, 0.91, 0.9)),
        ],
        {"implementations": ("iperf3",), "differences": ()},
    ),
    "strange_kernel": (
        [
            Cell("two_copy", {"sender": _changed(SENDER, a_new_function=9, bpf_prog_run=4),
                              "receiver": RECEIVER}, source="timer", n_threads=4),
            Cell("one_copy", {"sender": SENDER, "receiver": RECEIVER}, n_threads=4,
                 source="hardware"),
        ],
        {"event": "cpu_clock", "differences": ()},
    ),
    "copies_left": (
        [replace(TWO, wobble=(1.0, 4.0, 1.5)),
         replace(ZERO, wobble=(1.0, 4.0, 1.5),
                 stacks={"sender": _changed(ZERO_COPY, _copy_from_iter=10),
                         "receiver": RECEIVER})],
        {},
    ),
    "cheaper": (
        [TWO, Cell("one_copy", {"sender": _ONE, "receiver": RECEIVER},
                   cpu_s={"sender": 0.72, "receiver": 0.6})],
        {"implementations": ("two_copy", "one_copy"), "differences": (("two_copy", "one_copy"),)},
    ),
    "costlier": (
        [TWO, Cell("one_copy", {"sender": _ONE, "receiver": RECEIVER},
                   cpu_s={"sender": 0.72, "receiver": 0.6})],
        {"implementations": ("two_copy", "one_copy"), "differences": (("one_copy", "two_copy"),)},
    ),
    "some_lost": (
        [
            TWO,
            Cell("zero_copy", {}, status="failed", reason="the sender was killed by SIGKILL",
                 remedy="look for the out-of-memory killer in dmesg", repetitions=2),
        ],
        {"event": "cpu_clock"},
    ),
    "observed_once": ([Cell("two_copy", {"sender": SENDER}, repetitions=1)], {"repetitions": 1}),
    "nothing_received": (
        [Cell(name, {"sender": SENDER, "receiver": RECEIVER}, gigabytes=0.0)
         for name in ("two_copy", "zero_copy")],
        {},
    ),
    "few_unknown": (
        [TWO, Cell("zero_copy", {"sender": _changed(ZERO_COPY, a_new_function=3),
                                 "receiver": RECEIVER},
                   later={"sender": _without(ZERO_COPY, "msg_zerocopy"), "receiver": RECEIVER})],
        {},
    ),
    "iperf3_and_published": (
        [
            *(Cell("iperf3", {"sender": SENDER, "receiver": RECEIVER}, testbed=testbed,
                   msg_bytes=131072, n_threads=n)
              for testbed in ("loopback", "veth") for n in (1, 2)),
            *(Cell("iperf3", {"sender": UDP_SENDER, "receiver": UDP_RECEIVER},
                   testbed="veth_udp", msg_bytes=size) for size in (64, 65507)),
        ],
        {"differences": ()},
    ),
    "forbidden": (
        [
            Cell(name, {}, status="skipped",
                 reason="the kernel may not be sampled (perf_event_paranoid is 2)",
                 remedy="run as root, or allow it: sudo sysctl kernel.perf_event_paranoid=1")
            for name in ("two_copy", "zero_copy")
        ],
        {},
    ),
}  # fmt: skip


Of = Callable[[Mapping[str, Any]], tuple[object, ...]]


def first_difference(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    difference: Mapping[str, Any] = facts["differences"][0]
    return difference


def sender_of_difference(facts: Mapping[str, Any]) -> tuple[object, ...]:
    difference = first_difference(facts)
    return "sender", difference["sides"]["sender"], difference, facts["confidence"]


MACROS: dict[str, tuple[Of, tuple[str, ...]]] = {
    "sampling": (
        lambda facts: (facts["sampling"],),
        ("deferred_copy", "some_lost", "cycles", "strange_kernel"),
    ),
    "completeness": (lambda facts: (facts["sampling"],), ("deferred_copy", "cycles")),
    "overhead": (
        lambda facts: (facts["overhead"], facts["confidence"]),
        ("deferred_copy", "observed_once", "restless", "cycles", "nothing_received"),
    ),
    "uncategorised": (
        lambda facts: (facts["uncategorised"],),
        ("deferred_copy", "few_unknown", "strange_kernel"),
    ),
    "tracing": (lambda facts: (facts["tracing"],), ("strange_kernel",)),
    "loss": (lambda facts: (facts["losses"][0],), ("some_lost", "forbidden")),
    "cell": (lambda facts: (facts["cells"][0],), ("deferred_copy", "real_zero_copy")),
    "hidden": (lambda facts: (facts,), ("iperf3_and_published",)),
    "without_chains": (lambda facts: (), ("strange_kernel",)),
    "compared": (lambda facts: (first_difference(facts),), ("deferred_copy", "once")),
    "side_change": (sender_of_difference, ("costlier", "cheaper", "once", "restless")),
    "functions_changed": (sender_of_difference, ("deferred_copy", "once", "restless")),
    "price_verdict": (
        lambda facts: (first_difference(facts), "tbl-price"),
        ("deferred_copy", "real_zero_copy", "once", "restless"),
    ),
    "price_caption": (
        lambda facts: (first_difference(facts), facts["confidence"]),
        ("deferred_copy", "real_zero_copy", "once"),
    ),
    # question 1 of the analysis says this of the same facts
    "price": (
        lambda facts: (first_difference(facts), facts["confidence"]),
        ("deferred_copy", "once", "real_zero_copy", "restless", "few_unknown", "copies_left"),
    ),
    "chains_caption": (
        lambda facts: (facts["chains"][-1],),
        ("cycles", "iperf3_and_published"),
    ),
    "names_here": (lambda facts: (facts["chains"][0],), ("cycles",)),
}


@cache
def _facts(name: str) -> dict[str, Any]:
    cells, changes = SCENARIOS[name]
    return facts_of(cells, **changes)


@pytest.mark.parametrize("name", MACROS)
def test_each_branch_says_the_golden_sentences(name: str) -> None:
    of, scenarios = MACROS[name]
    text = branches({s: sentences("profile_words", name, *of(_facts(s))) for s in scenarios})
    assert text == golden_text(TEXTS / f"{name}.md", text)


def test_the_whole_chapter_is_the_golden_one() -> None:
    text = _text(_facts("deferred_copy"))
    assert text == golden_text(TEXTS / "chapter.md", text)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_run_has_a_chapter(name: str) -> None:
    assert "# Where the CPU time goes" in _text(_facts(name))


def test_published_chains_stand_in_front_of_ours() -> None:
    text = _text(_facts("iperf3_and_published"))
    assert "| sender | \u2013 `tcp_sendmsg_locked` | 73\N{NO-BREAK SPACE}% | 64" in text
    assert "| no counterpart |" in text
    assert "{#tbl-profile-chains-veth-udp-udp-1-65500}" in text
    assert "flame graphs of two" in text


def test_a_run_that_may_not_sample_says_why() -> None:
    text = _text(_facts("forbidden"))
    assert text == golden_text(TEXTS / "nothing_measured.md", text)


def _price(sender: dict[str, int], wobble: Sequence[float] = TWO.wobble) -> dict[str, Any]:
    two = replace(TWO, wobble=wobble)
    facts = facts_of([two, replace(ZERO, stacks={**ZERO.stacks, "sender": sender})])
    price: dict[str, Any] = facts["differences"][0]["price"]
    return price


def test_copying_that_is_gone_was_spared_however_much_it_varied() -> None:
    restless = (1.0, 4.0, 1.5)
    spared = _price(ZERO_COPY, wobble=restless)["spared"]
    assert (spared["direction"], spared["low"]) == ("grew", 0.0)
    some_left = _changed(ZERO_COPY, _copy_from_iter=10)
    spared = _price(some_left, wobble=restless)["spared"]
    assert spared["direction"] == "no change seen"
    assert spared["low"] < 0.0


def test_work_within_other_work_is_paid_for_once() -> None:
    nested = {stack.replace("skb_copy_ubufs", "msg_zerocopy_complete_[k];skb_copy_ubufs"): share
              for stack, share in ZERO_COPY.items()}  # fmt: skip
    flat, deep = (_price(sender) for sender in (ZERO_COPY, nested))
    assert deep["paid"]["mean"] == pytest.approx(flat["paid"]["mean"])
    assert deep["paid"]["mean"] == pytest.approx(sum(p["cost"]["mean"] for p in deep["parts"]))


def _text(facts: dict[str, Any]) -> str:
    names = [cell["figure"] for cell in facts["cells"]]
    both = [*facts["cells"], *facts["differences"]]
    names += [side["figure"] for one in both for side in one["sides"].values()]
    return chapter("profile", facts, names)


def test_the_text_names_only_figures_that_are_drawn() -> None:
    facts = facts_of([TWO, ZERO])
    drawn = figure_names(cell_keys(config()), config().profile.differences)
    for line in _text(facts).splitlines():
        if "(assets/profile/" in line:
            assert line.partition("(assets/profile/")[2].partition(".svg")[0] in drawn
