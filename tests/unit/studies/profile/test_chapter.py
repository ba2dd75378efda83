"""The chapter on where the CPU time goes, and what its macros say in every branch."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from golden.compare import GOLDEN, golden_text
from golden.sentences import branches, chapter, sentences
from unit.studies.profile.made import (
    IN_ONE_GUEST,
    PAIR,
    PAIR_CPU_S,
    PAIR_KVM,
    PAIR_ZERO,
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

from copycost.report import profile_tables
from copycost.report.virtual_tables import work
from copycost.studies.profile.grid import cell_keys
from copycost.studies.profile.names import figure_names

TEXTS = GOLDEN / "profile"

TWO = Cell("two_copy", {"sender": SENDER, "receiver": RECEIVER})
ZERO = Cell("zero_copy", {"sender": ZERO_COPY, "receiver": RECEIVER}, copied_share=1.0)
_UDP = {stack.replace("tcp", "udp"): share for stack, share in SENDER.items()}
_ONE = {stack: share for stack, share in SENDER.items() if "memmove" not in stack}
_GUESTS: dict[str, Any] = {"testbed": "vm_pair", "accelerator": "tcg", "cpu_s": PAIR_CPU_S}
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
    "sender_takes_more": (
        [
            Cell("zero_copy", {"sender": REAL_ZERO_COPY}, **_SINK, msg_bytes=65507,
                 gigabytes=8.0, copied_share=0.0),
            Cell("two_copy", {"sender": _UDP}, **_SINK, msg_bytes=65507),
        ],
        {"differences": (("zero_copy", "two_copy"),)},
    ),
    "all_explained": ([TWO, replace(TWO, implementation="zero_copy",
                                    cpu_s={"sender": 0.4, "receiver": 0.2})], {}),
    "unnamed": (
        [TWO, replace(TWO, implementation="zero_copy", cpu_s={"sender": 0.4, "receiver": 0.2},
                      stacks={"sender": _changed(SENDER, a_new_function=9),
                              "receiver": RECEIVER})],
        {},
    ),
    "nothing_changes": (
        [replace(TWO, wobble=(1.0, 1.3, 0.8)), replace(TWO, implementation="zero_copy")], {}
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
    "emulated_pair": (
        [
            Cell("two_copy", PAIR, **_GUESTS, gigabytes=0.3),
            Cell("zero_copy", PAIR_ZERO, **_GUESTS, gigabytes=0.3, copied_share=0.0),
        ],
        {"testbeds": ("vm_pair",)},
    ),
    "kvm_pair": (
        [
            Cell("iperf3", PAIR_KVM, **{**_GUESTS, "accelerator": "kvm"}, gigabytes=1.0,
                 repetitions=1),
        ],
        {"testbeds": ("vm_pair",), "implementations": ("iperf3",), "differences": ()},
    ),
    "copied_in_a_guest": (
        [
            Cell("zero_copy", IN_ONE_GUEST, testbed="vm_loopback", accelerator="tcg",
                 copied_share=1.0,
                 cpu_s={"sender": 0.5, "receiver": 0.3, "guest": 0.1, "qemu": 0.95}),
        ],
        {"testbeds": ("vm_loopback",), "differences": ()},
    ),
    "copied_twice": (
        [
            Cell("zero_copy", {**PAIR_ZERO, "sender": PAIR["sender"]}, **_GUESTS, gigabytes=0.3,
                 copied_share=1.0),
        ],
        {"testbeds": ("vm_pair",), "differences": ()},
    ),
    "no_copy_seen": (
        [
            Cell("zero_copy", {party: {"main": 100} for party in PAIR}, **_GUESTS,
                 copied_share=0.0),
        ],
        {"testbeds": ("vm_pair",), "differences": ()},
    ),
    "few_samples_of_copying": (
        [
            Cell("zero_copy", PAIR_ZERO, **_GUESTS, gigabytes=20.0, copied_share=0.0),
        ],
        {"testbeds": ("vm_pair",), "differences": ()},
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
    "completeness": (
        lambda facts: (facts["sampling"],),
        ("deferred_copy", "cycles", "emulated_pair"),
    ),
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
    "cell": (
        lambda facts: (facts["cells"][0],),
        ("deferred_copy", "real_zero_copy", "emulated_pair"),
    ),
    "hidden": (lambda facts: (facts,), ("iperf3_and_published",)),
    "without_chains": (lambda facts: (), ("strange_kernel",)),
    "compared": (
        lambda facts: (first_difference(facts),),
        ("deferred_copy", "once", "emulated_pair"),
    ),
    "side_change": (sender_of_difference, ("costlier", "cheaper", "once", "restless")),
    "functions_changed": (sender_of_difference, ("deferred_copy", "once", "restless")),
    "account_caption": (
        lambda facts: (first_difference(facts), facts["confidence"]),
        ("deferred_copy", "real_zero_copy", "once"),
    ),
    # question 1 of the analysis says this of the same facts
    "account": (
        lambda facts: (first_difference(facts), facts["confidence"]),
        (
            "deferred_copy",
            "once",
            "real_zero_copy",
            "restless",
            "few_unknown",
            "copies_left",
            "cheaper",
            "costlier",
            "nothing_changes",
            "all_explained",
            "unnamed",
            "sender_takes_more",
        ),
    ),
    "chains_caption": (
        lambda facts: (facts["chains"][-1],),
        ("cycles", "iperf3_and_published", "emulated_pair", "kvm_pair", "copied_in_a_guest"),
    ),
    "copies": (
        lambda facts: (facts["cells"][0],),
        (
            "emulated_pair",
            "kvm_pair",
            "copied_in_a_guest",
            "no_copy_seen",
            "few_samples_of_copying",
        ),
    ),
    "zero_copy_in_guest": (
        lambda facts: (facts["cells"][-1],),
        ("emulated_pair", "copied_in_a_guest", "copied_twice", "no_copy_seen"),
    ),
    "around_caption": (
        lambda facts: (facts["cells"][0], facts["confidence"]),
        ("emulated_pair", "kvm_pair"),
    ),
    "guest_paths": (lambda facts: (facts,), ("emulated_pair", "kvm_pair")),
    "names_here": (lambda facts: (facts["chains"][0],), ("cycles", "emulated_pair")),
}


@cache
def _facts(name: str) -> dict[str, Any]:
    cells, changes = SCENARIOS[name]
    return facts_of(cells, **changes)


def _template(macro: str) -> str:
    of_guests = {"copies", "zero_copy_in_guest", "around_caption", "guest_paths"}
    return "profile_guests_words" if macro in of_guests else "profile_words"


@pytest.mark.parametrize("name", MACROS)
def test_each_branch_says_the_golden_sentences(name: str) -> None:
    of, scenarios = MACROS[name]
    text = branches({s: sentences(_template(name), name, *of(_facts(s))) for s in scenarios})
    assert text == golden_text(TEXTS / f"{name}.md", text)


def test_the_whole_chapter_of_guests_is_the_golden_one() -> None:
    text = _text(_facts("emulated_pair"))
    assert text == golden_text(TEXTS / "guests.md", text)


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


def _account(before: Cell, after: Cell) -> dict[str, Any]:
    found: dict[str, Any] = facts_of([before, after])["differences"][0]["account"]
    return found


@pytest.mark.parametrize("name", ["deferred_copy", "once", "real_zero_copy", "restless",
                                  "few_unknown", "copies_left", "cheaper", "costlier"])  # fmt: skip
def test_parts_of_an_account_add_up_to_the_measured_difference(name: str) -> None:
    facts = _facts(name)
    for difference in facts["differences"]:
        found = difference["account"]
        sums = found["grew"]["sum"] + found["shrank"]["sum"] + found["unexplained"]
        sides = difference["sides"].values()
        total = sum(side["change"]["mean"] for side in sides)
        assert sums == pytest.approx(found["change"]["mean"], abs=1e-5)
        assert found["change"]["mean"] == pytest.approx(total, abs=1e-5)
        for side in sides:
            shown = sum(row["change"]["mean"] for row in [*side["grew"], *side["shrank"]])
            assert shown + side["rest"]["sum"] == pytest.approx(side["change"]["mean"], abs=1e-5)


def test_rows_of_an_account_add_up_as_printed() -> None:
    _, rows = profile_tables.account(_facts("deferred_copy")["differences"][0])
    own = [row for row in rows if not row[0].startswith("*")]
    left = [row for row in rows if "open" in row[0] or "no list" in row[0]]
    for column in (1, 2, 3):
        numbers = [float(row[column].split(" ")[0].replace("\u2212", "-")) for row in own + left]
        total = float(rows[-1][column].split(" ")[0].replace("\u2212", "-"))
        assert sum(numbers) == pytest.approx(total, abs=0.5 * len(numbers))


def test_a_category_counts_by_the_same_rule_in_both_cells() -> None:
    """Allocation that both do is its difference, not what the second does of it."""
    outer = "__send;entry_SYSCALL_64_after_hwframe_[k];"
    with_pages = [
        replace(cell, stacks={**cell.stacks, "sender": {
            **cell.stacks["sender"], f"{outer}msg_zerocopy_complete_[k];__alloc_pages_[k]": n}})
        for cell, n in ((TWO, 30), (ZERO, 10))
    ]  # fmt: skip
    found = _account(*with_pages)
    part = next(part for part in found["shrank"]["parts"] if part["title"] == "allocation")
    assert part["change"]["mean"] == pytest.approx(part["after"] - part["before"], abs=1e-5)
    # own time: what notification calls is allocation, in the account as in the table of categories
    assert all(p["title"] != "notification" or p["after"] < part["before"]
               for p in found["grew"]["parts"])  # fmt: skip


def test_the_account_has_the_own_time_that_the_table_of_categories_has() -> None:
    facts = _facts("once")
    after = facts["cells"][1]
    difference = facts["differences"][0]
    for part in difference["account"]["grew"]["parts"]:
        own = sum(
            entry["own"]["share"]["median"] * difference["sides"][name]["after"]
            for name, side in after["sides"].items()
            for entry in side["categories"]
            if part["title"] in (entry["title"], f"{entry['title']} ({name})")
        )
        assert own == pytest.approx(part["after"], rel=1e-6)


def test_copying_that_is_gone_was_spared_however_much_it_varied() -> None:
    restless = replace(TWO, wobble=(1.0, 4.0, 1.5))
    gone = _account(restless, ZERO)["shrank"]["parts"]
    copy = next(part for part in gone if part["title"] == "copy in the kernel (sender)")
    assert copy["change"]["high"] <= 0.0
    some_left = {**ZERO.stacks, "sender": _changed(ZERO_COPY, _copy_from_iter=10)}
    assert _account(restless, replace(ZERO, stacks=some_left))["open"]["n"] > 0


def test_work_within_other_work_counts_once() -> None:
    nested = {stack.replace("skb_copy_ubufs", "msg_zerocopy_complete_[k];skb_copy_ubufs"): share
              for stack, share in ZERO_COPY.items()}  # fmt: skip
    deep = replace(ZERO, stacks={**ZERO.stacks, "sender": nested})
    flat, other = (_account(TWO, cell)["grew"] for cell in (ZERO, deep))
    assert other["sum"] == pytest.approx(flat["sum"])


def _text(facts: dict[str, Any]) -> str:
    names = [cell["figure"] for cell in facts["cells"]]
    both = [*facts["cells"], *facts["differences"]]
    names += [side["figure"] for one in both for side in one["sides"].values()]
    return chapter("profile", facts, names, "profile_details")


def test_the_text_names_only_figures_that_are_drawn() -> None:
    facts = facts_of([TWO, ZERO])
    drawn = figure_names(cell_keys(config()), config().profile.differences)
    for line in _text(facts).splitlines():
        if "(assets/profile/" in line:
            assert line.partition("(assets/profile/")[2].partition(".svg")[0] in drawn


def test_other_chapters_say_what_guests_and_hypervisors_do_from_the_same_facts() -> None:
    facts = _facts("emulated_pair")
    _, rows = work(facts["cells"])
    told = {party: values for _, party, *values in rows}
    assert list(told)[-2:] == ["sender's QEMU", "receiver's QEMU"]
    (outside,) = facts["work_outside"]
    assert (outside["condition"], outside["n"]) == ("vm_pair", 2)
    emulated = []
    for cell in facts["cells"]:
        assert sum(cell["work"]["outside"].values()) == pytest.approx(1.0)
        parties = cell["work"]["parties"]
        outdoors = [parties["sender_qemu"], parties["receiver_qemu"]]
        whole = sum(sum(costs.values()) for costs in outdoors)
        emulated.append(sum(costs["emulator"] for costs in outdoors) / whole)
    found = outside["shares"]["emulator"]
    assert [found["low"], found["high"]] == pytest.approx([min(emulated), max(emulated)])


def test_sums_over_categories_are_those_of_the_categories() -> None:
    (cell,) = _facts("kvm_pair")["cells"]
    for name, costs in cell["work"]["parties"].items():
        of = cell["sides"][name]
        shares = {row["name"]: row["own"]["share"]["median"] for row in of["categories"]}
        total = sum(costs.values())
        copies = sum(shares.get(one, 0.0) for one in ("user_copy", "copy", "hypervisor_copy"))
        assert costs["copies"] / total == pytest.approx(copies)
        assert costs["exits"] / total == pytest.approx(shares.get("kvm", 0.0))
    assert cell["work"]["outside"]["exits"] > 0.0
    assert cell["work"]["outside"]["emulator"] == 0.0
    assert [one["work"] for one in _facts("deferred_copy")["cells"]] == [None, None]
    assert _facts("deferred_copy")["work_outside"] == []
