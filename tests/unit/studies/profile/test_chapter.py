"""The chapter on where the CPU time goes, and what its macros say in every branch."""

from dataclasses import replace
from functools import cache
from statistics import median
from typing import Any

import pytest
from golden.compare import GOLDEN, golden_text
from golden.sentences import branches, chapter, sentences
from unit.studies.profile.made import (
    BOTH,
    IN_ONE_GUEST,
    PAIR,
    PAIR_CPU_S,
    PAIR_ZERO,
    RECEIVER,
    SENDER,
    UDP_RECEIVER,
    UDP_SENDER,
    ZERO_COPY,
    Cell,
    facts_of,
    repetitions_of,
)

from copycost.report.tables import guest_work as work
from copycost.studies.profile.facts import verdicts

TEXTS = GOLDEN / "profile"

TWO = Cell("two_copy", BOTH)
ZERO = Cell("zero_copy", {"sender": ZERO_COPY, "receiver": RECEIVER}, copied_share=1.0)


def _sender(stacks: dict[str, int], without: str = "\n", **more: int) -> dict[str, dict[str, int]]:
    """Return the stacks of both sides: a sender without some function, and with others."""
    outer = "__send;entry_SYSCALL_64_after_hwframe_[k];"
    kept = {stack: share for stack, share in stacks.items() if without not in stack}
    found = {**kept, **{f"{outer}{name}_[k]": share for name, share in more.items()}}
    return {"sender": found, "receiver": RECEIVER}


ONE = Cell("one_copy", _sender(SENDER, without="memmove"), cpu_s={"sender": 0.72, "receiver": 0.6})
_TWO_AND_ONE = {"implementations": ("two_copy", "one_copy")}
_GUESTS: dict[str, Any] = {"testbed": "vm_pair", "accelerator": "tcg", "cpu_s": PAIR_CPU_S}
_ALONE = {"testbeds": ("vm_pair",), "differences": ()}
_FORBIDDEN = {
    "status": "skipped",
    "reason": "the kernel may not be sampled (perf_event_paranoid is 2)",
    "remedy": "run as root, or allow it: sudo sysctl kernel.perf_event_paranoid=1",
}

SCENARIOS: dict[str, tuple[list[Cell], dict[str, Any]]] = {
    "deferred_copy": ([TWO, ZERO], {}),
    "once": ([replace(TWO, repetitions=1), replace(ZERO, repetitions=1)], {"repetitions": 1}),
    "cheaper": ([TWO, ONE], {**_TWO_AND_ONE, "differences": (("two_copy", "one_copy"),)}),
    "costlier": ([TWO, ONE], {**_TWO_AND_ONE, "differences": (("one_copy", "two_copy"),)}),
    "nothing_changes": (
        [replace(TWO, wobble=(1.0, 1.3, 0.8)), replace(TWO, implementation="zero_copy")], {}
    ),
    "nothing_received": ([replace(TWO, gigabytes=0.0), replace(ZERO, gigabytes=0.0)], {}),
    "few_unknown": (
        [TWO, Cell("zero_copy", _sender(ZERO_COPY, a_new_function=3),
                   later=_sender(ZERO_COPY, without="msg_zerocopy"))],
        {},
    ),
    "iperf3_and_published": (
        [
            *(Cell("iperf3", BOTH, testbed=testbed, msg_bytes=131072, n_threads=n)
              for testbed in ("loopback", "veth") for n in (1, 2)),
            *(Cell("iperf3", {"sender": UDP_SENDER, "receiver": UDP_RECEIVER},
                   testbed="vm_loopback_udp", msg_bytes=size, accelerator="tcg")
              for size in (64, 65507)),
        ],
        {"differences": ()},
    ),
    "emulated_pair": (
        [Cell("two_copy", PAIR, **_GUESTS, gigabytes=0.3),
         Cell("zero_copy", PAIR_ZERO, **_GUESTS, gigabytes=0.3, copied_share=0.0)],
        {"testbeds": ("vm_pair",)},
    ),
    "copied_in_a_guest": (
        [Cell("zero_copy", IN_ONE_GUEST, testbed="vm_loopback", accelerator="tcg", copied_share=1.0,
              cpu_s={"sender": 0.5, "receiver": 0.3, "guest": 0.1, "qemu": 0.95})],
        {"testbeds": ("vm_loopback",), "differences": ()},
    ),
    "few_samples_of_copying": (
        [Cell("zero_copy", PAIR_ZERO, **_GUESTS, gigabytes=20.0, copied_share=0.0)], _ALONE
    ),
    "forbidden": ([Cell(name, {}, **_FORBIDDEN) for name in ("two_copy", "zero_copy")], {}),
}  # fmt: skip


@cache
def _facts(name: str) -> dict[str, Any]:
    cells, changes = SCENARIOS[name]
    return facts_of(cells, **changes)


def test_each_branch_says_the_golden_sentences() -> None:
    texts = {name: sentences("profile_words", "verdict", found) for name, found in VERDICTS.items()}
    assert branches(texts) == golden_text(TEXTS / "verdict.md", branches(texts))


VERDICTS = {
    **{
        name: _facts(name)["verdicts"][0]
        for name in ("deferred_copy", "cheaper", "costlier", "once", "nothing_changes")
    },
    "in several cells": verdicts(
        [_facts(name)["differences"][0] for name in ("cheaper", "few_unknown")]
        + [{**_facts("costlier")["differences"][0], "before": "two_copy", "after": "one_copy"}]
    )[0],
}


@pytest.mark.parametrize(
    ("name", "scenario"), [("chapter", "deferred_copy"), ("nothing_measured", "forbidden")]
)
def test_the_whole_chapter_is_the_golden_one(name: str, scenario: str) -> None:
    text = _text(_facts(scenario))
    assert text == golden_text(TEXTS / f"{name}.md", text)


def test_copies_of_every_byte_are_told_from_traces() -> None:
    def copied(name: str) -> list[tuple[str, str | None]]:
        way = _facts(name)["cells"][0]["way"]
        return [(part["name"], part["party"]) for part in way if part["copied"]]

    assert copied("deferred_copy") == [
        ("application_copy", None), ("copy_in", None), ("copy_out", None)
    ]  # fmt: skip
    assert copied("emulated_pair") == [
        *(("application_copy", None), ("copy_in", None), ("tap_copy_in", "sender_qemu")),
        *(("tap_copy_out", "receiver_qemu"), ("hypervisor_copy", "receiver_qemu")),
        ("copy_out", None),
    ]
    assert copied("copied_in_a_guest") == [("deferred_copy", None), ("copy_out", None)]
    assert copied("few_samples_of_copying") == [("copy_out", None)]
    assert _facts("few_samples_of_copying")["cells"][0]["tap_copy"] is None


@pytest.mark.parametrize("name", ["deferred_copy", "emulated_pair", "copied_in_a_guest"])
def test_parts_of_the_way_add_up_to_all_cpu_time(name: str) -> None:
    for cell in _facts(name)["cells"]:
        repetitions = [one for one in repetitions_of(SCENARIOS[name][0])
                       if one.key.implementation == cell["implementation"]]  # fmt: skip
        total = median(sum(its.ns_per_kib for its in one.samples.values()) for one in repetitions)
        parts = sum(part["ns_per_kib"]["median"] for part in cell["way"])
        assert parts == pytest.approx(total, rel=0.01)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_run_has_a_chapter(name: str) -> None:
    assert "# Where the CPU time goes" in _text(_facts(name))


def test_published_chains_stand_beside_the_same_path() -> None:
    chains = _facts("iperf3_and_published")["chains"]
    assert [(one["condition"], one["n_threads"], one["msg_bytes"]) for one in chains] == [
        ("loopback", 1, None), ("loopback", 2, None),
        ("vm_loopback_udp", 1, 1000), ("vm_loopback_udp", 1, 65500),
    ]  # fmt: skip


def _parts(*cells: Cell) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = facts_of(cells)["differences"][0]["account"]["parts"]
    return found


@pytest.mark.parametrize("name", ["deferred_copy", "once", "few_unknown", "cheaper", "costlier"])
def test_parts_of_an_account_add_up_to_the_measured_difference(name: str) -> None:
    facts = _facts(name)
    for difference in facts["differences"]:
        found = difference["account"]
        settled = [one for one in found["parts"] if one["group"] != "open"]
        sums = sum(one["change"]["value"] for one in settled) + found["unexplained"]
        assert sums == pytest.approx(found["change"]["value"], abs=1e-5)


def test_copying_that_is_gone_was_spared_however_much_it_varied() -> None:
    restless = replace(TWO, wobble=(1.0, 4.0, 1.5))
    gone = {part["title"]: part for part in _parts(restless, ZERO)}
    copy = gone["copy in the kernel (sender)"]
    assert copy["group"] == "shrank"
    assert copy["change"]["high"] <= 0.0
    some_left = _sender(ZERO_COPY, _copy_from_iter=10)
    parts = _parts(restless, replace(ZERO, stacks=some_left))
    assert "open" in {part["group"] for part in parts}


def _text(facts: dict[str, Any]) -> str:
    names = [side["figure"] for cell in facts["cells"] for side in cell["sides"].values()]
    return chapter("profile", facts, names, "profile_details")


def test_other_chapters_say_what_guests_and_hypervisors_do_from_the_same_facts() -> None:
    facts = _facts("emulated_pair")
    parties = [row[1] for row in work(facts["cells"])[1]]
    assert list(dict.fromkeys(parties))[-2:] == ["sender's QEMU", "receiver's QEMU"]
