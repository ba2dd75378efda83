"""Sentences that a chapter has without a macro: what it says in each of its branches."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from golden.sentences import check_branches, environment
from report.example import sources_of, write_results
from synthetic import Run

from copycost.report.context import build_context

Context = dict[str, Any]
Change = Callable[[Context], object]
KEPT = ("provenance", "results_tables")


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    folder = tmp_path_factory.mktemp("results")
    write_results(Run(msg_bytes=(256, 65536), n_threads=(1,)), folder)
    context = build_context(sources_of(folder), "T")
    context["chapters"] = ["cpu_budget", "datagrams"]
    return context


def said(context: Context, chapter: str, branches: dict[str, Change]) -> dict[str, str]:
    """Return, by branch, the lines of a chapter that it has not without the change."""
    usual = set(rendered(context, chapter, lambda usual: None))
    return {
        name: "\n".join(line for line in rendered(context, chapter, change) if line not in usual)
        for name, change in branches.items()
    }


def rendered(context: Context, chapter: str, change: Change) -> list[str]:
    """Return the lines of a chapter after a change of what it is written from."""
    changed = {name: copy.deepcopy(value) for name, value in context.items() if name not in KEPT}
    changed |= {name: context[name] for name in KEPT}
    change(changed)
    return environment().get_template(f"{chapter}.qmd.j2").render(changed).splitlines()


def of_run(**changed: object) -> Change:
    return lambda context: context["facts"]["run"].update(changed)


def of_modes(share_held: float | None) -> Change:
    return lambda context: context["facts"]["modes"].update(share_held=share_held)


def of_method(**changed: object) -> Change:
    return lambda context: context["facts"]["method"].update(changed)


def of_conditions(**changed: object) -> Change:
    return lambda context: [one.update(changed) for one in context["conditions"]]


def of_virtual(**facts: object) -> Change:
    return lambda context: context["facts"].update(virtual=facts)


def of_wires(*within: str, virtual: bool = True, one_kernel: bool = False) -> Change:
    """Make one condition that of a wire, and others of what is within the machine."""

    def change(context: Context) -> None:
        (first, *_) = context["conditions"]
        context["conditions"] = [first | {"slug": slug} for slug in ("wire", *within)]
        context["facts"]["wire"] = {
            "conditions": [{"slug": "wire", "virtual": virtual, "one_kernel": one_kernel}]
        }
        context["facts"]["network_card"]["wires"] = [] if virtual else ["wire"]

    return change


def given(**changed: object) -> Change:
    return lambda context: context.update(changed)


def test_limits(context: Context) -> None:
    cold = [one | {"working_set": "cold"} for one in context["conditions"]]
    branches = {
        "several boots": of_run(n_boots=2),
        "sink": of_conditions(sender_only=True),
        "nothing but hot messages": of_conditions(working_set="hot"),
        "emulated guests": of_virtual(emulated=True, conditions=[1], made=None),
        "guests": of_virtual(emulated=False, conditions=[1], made=None),
        "guests with one virtual CPU": lambda context: (
            of_virtual(emulated=False, conditions=[1], made={"spec": {"vcpus": 1}})(context),
            context["facts"]["method"].update(placements=[{"placement": "apart"}]),
        ),
        "over the wire alone": of_wires(),
        "over a wire that is none": of_wires(one_kernel=True),
        "over the wire and within": of_wires("veth"),
        "over the wire of a card, and within": of_wires("veth", virtual=False),
        "several placements": lambda context: context["facts"].update(placement={"groups": []}),
        "one placement": lambda context: context["facts"]["method"].update(
            placements=[{"placement": "apart"}]
        ),
        "wake-ups": lambda context: context["facts"]["method"].update(
            receive_lowat=[{"msg_bytes": 65536, "bytes": 1048576}]
        ),
        "uncounted": given(uncounted=["cycles", "LLC-loads"]),
        "no round twice": of_run(rounds_min=1, rounds_max=1),
        "not every round twice": of_run(rounds_min=1),
        "few rounds": of_run(rounds_min=4, rounds_max=4),
        "few rounds, not as many everywhere": of_run(rounds_min=3, rounds_max=4),
        "enough rounds": of_run(rounds_min=10, rounds_max=10),
        "too few rounds for two modes": of_modes(0.87),
        "rounds for two modes": of_modes(None),
        "missing repetitions": of_run(n_failed=1, n_skipped=2),
        "disturbed": of_run(n_warned=2, warnings={"steal": 1, "few_messages": 2, "new": 1}),
        "several states of the host": of_run(host_digests=["a", "b"]),
    }
    other = {"placements": [{"placement": "free"}], "receive_lowat": []}
    free = {"method": context["facts"]["method"] | other}
    usual = context | {"conditions": cold, "facts": context["facts"] | free}
    check_branches("limits", said(usual, "limits", branches))


@pytest.mark.parametrize(("within", "n_told"), [((), 1), (("veth",), 2)])
def test_that_there_is_no_card_is_told_of_wires_and_of_what_is_none(
    context: Context, within: tuple[str, ...], n_told: int
) -> None:
    lines = rendered(context, "limits", of_wires(*within, one_kernel=True))
    assert sum("**No network card.**" in line for line in lines) == n_told


def test_method_says_how_ratios_come_about(context: Context) -> None:
    def with_control(*slugs: str) -> Change:
        control = {"implementations": ["two_copy"], "conditions": slugs}
        return lambda context: context["facts"].update(control=control)

    branches = {"everywhere": with_control("veth"), "nowhere else": with_control()}
    lines = said(context, "method", branches)
    assert "measures an implementation and `two_copy` in turn" in lines["everywhere"]
    assert "round by round" not in lines["everywhere"]
    assert "ratios are taken round by round" in lines["nowhere else"]


def test_compared(context: Context) -> None:
    note = {
        "summary": "what it does.", "path": "copied once.", "copies": "1", "calls": "1 `send`",
        "kernel": "any", "diagram": "assets/diagrams/it.svg", "caption": "How.", "alt": "Boxes.",
    }  # fmt: skip
    ways = ("two_copy", "one_copy", "zero_copy", "splice", "write_v", "sendmmsg")
    context = context | {
        "implementations": ["write_v"],
        "strategies": {way: note | {"diagram": None, "summary": "as told before."} for way in ways},
    }

    def drawn(name: str) -> Change:
        return given(implementations=[name], strategies={name: note})

    ways_of = {
        "two_copy": drawn("two_copy"),
        "one_copy": drawn("one_copy"),
        "zero_copy": drawn("zero_copy"),
        "another, with a diagram": drawn("splice"),
        "another, without": given(implementations=["write_v", "two_copy"]),
    }
    branches = {
        "batches": given(implementations=["write_v", "write_v_x16", "write_v_x8"]),
        "no header comment": given(implementations=["write_v", "mine"]),
        "no receiver": of_conditions(sender_only=True),
        "another receiver": of_conditions(receiver="mmap"),
    }
    texts = said(context, "ways", ways_of) | said(context, "compared", branches)
    texts |= said(
        context | {"strategies": {}},
        "compared",
        {"table": given(strategies={"write_v": note | {"path": None}})},
    )
    check_branches("compared", texts)


def memory(facts: object, *figures: str) -> Change:
    def change(context: Context) -> None:
        context["facts"]["memory"] = facts
        context["figures"]["all"] = figures

    return change


def test_memory_floor(context: Context) -> None:
    levels = dict.fromkeys(("l1", "l2", "llc", "dram"))
    unknown = {"points": [{"bytes": 16384}, {"bytes": 1 << 30}], "levels": levels}
    known = unknown | {"levels": levels | {"l1": {"bytes": 16384, "ns_per_byte": 0.00472}}}
    lost = {"points": [], "reason": None, "remedy": None}
    why = {"reason": "no memory", "remedy": "close programs"}
    texts = said(
        context | {"facts": context["facts"] | {"memory": lost}},
        "memory",
        {"not measured": memory(lost | why), "measured": memory(known)},
    )
    texts |= said(
        context | {"facts": context["facts"] | {"memory": known}},
        "memory",
        {"drawn": memory(known, "memory_floor"), "caches unknown": memory(unknown)},
    )
    check_branches("memory", texts)


def test_published(context: Context) -> None:
    run = {
        "name": "one", "title": "One", "system": "one host", "method": "by hand", "testbed": "veth",
        "same_path": True, "differences": ["this", "that"], "ratios": [], "sizes": [1024],
        "crossovers": [], "has_cost": False, "same_cost_unit": False,
    }  # fmt: skip
    published = {
        "measured": True, "repetitions": 3, "duration_s": 0.3, "runs": [run], "figures": [],
        "grid": {"msg_bytes": [1024]}, "cost": {"label": "CPU time"},
    }  # fmt: skip
    ratio = {"implementation": "one_copy", "n_cells": 5, "low": 0.9, "median": 1.0, "high": 1.2}
    always = {"outcome": "always", "all_sizes": [1024], "observed_once": False, "missing": [],
              "sizes": {"better": [1024], "worse": [], "even": []}}  # fmt: skip
    pair = {"implementation": "one_copy", "baseline": "two_copy",
            "rows": [{"n_threads": 1, "ours": always, "theirs": always}]}  # fmt: skip

    def told(*figures: str, **changed: object) -> Change:
        return given(published=published | {"runs": [run | changed], "figures": list(figures)})

    branches = {
        "nothing measured": given(published={"measured": False}),
        "another path": told(same_path=False),
        "cells in common, drawn": told("published_throughput", ratios=[ratio]),
        "along the sizes": told(crossovers=[pair]),
        "cost, drawn": told("published_cost", has_cost=True),
    }
    context = context | {"published": published}
    nothing = context | {"published": published | {"runs": []}}
    texts = said(nothing, "published", {"a run": told()})
    check_branches("published", texts | said(context, "published", branches))
