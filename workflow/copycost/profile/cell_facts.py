"""Facts on each profiled cell: CPU use, categories, boxes of the data path, busiest functions."""

from collections.abc import Mapping, Sequence
from typing import Any

from copycost.analysis.labels import copied_label
from copycost.capabilities import transport_of
from copycost.conditions import Condition
from copycost.profile.estimate import estimate
from copycost.profile.functions import UNCATEGORISED, Stack, plain_name
from copycost.profile.grid import CellKey
from copycost.profile.names import SIDES, slug_of
from copycost.profile.shares import Lists, Share, SideShares
from copycost.profile.tables import Repetition
from copycost.stats.settings import StatisticsSettings

_TOP_FUNCTIONS = 8
_TOP_CATEGORIES = 3


def cell_facts(
    key: CellKey, cell: Sequence[Repetition], lists: Lists, settings: StatisticsSettings
) -> dict[str, Any]:
    """Return what is known of a cell from its measured repetitions (at least one)."""
    condition, testbed, implementation, msg_bytes, n_threads, working_set, receiver = key
    runs = [one.record["sampled"] for one in cell]
    rates = [run["received_bytes"] * 8 / run["window_s"] for run in runs if run]
    found = {
        side: _side(side, cell, lists, settings)
        for side in SIDES
        if any(side in one.shares for one in cell)
    }
    return {
        "slug": slug_of(key),
        "condition": condition,
        "testbed": testbed,
        "implementation": implementation,
        "msg_bytes": msg_bytes,
        "n_threads": n_threads,
        "working_set": working_set,
        "receiver": receiver,
        "transport": transport_of(testbed),
        "sender_only": Condition(testbed, working_set, receiver).sender_only,
        "n": len(cell),
        "throughput_bits_per_s": estimate(rates, settings),
        "copied_share": copied_share(cell),
        "labels": labels_of({implementation: cell}),
        "cpu_source": sorted({one["cpu_source"] for run in runs if run for one in _sides(run)}),
        "sides": found,
        "category_rows": _category_rows(found, lists),
    }


def copied_share(cell: Sequence[Repetition]) -> dict[str, float] | None:
    """Return which share of the zero-copy sends the kernel copied after all, None without any."""
    runs = [one.record["sampled"] for one in cell]
    copied = [run["copied_share"] for run in runs if run and run["copied_share"] is not None]
    return {"low": min(copied), "high": max(copied)} if copied else None


def labels_of(cells: Mapping[str, Sequence[Repetition]]) -> dict[str, str]:
    """Return what implementations are called whose zero-copy sends were copied after all."""
    found = {}
    for implementation, cell in cells.items():
        share = copied_share(cell)
        label = copied_label(share["low"], share["high"]) if share else None
        if label is not None:
            found[implementation] = label
    return found


def _category_rows(sides: Mapping[str, Any], lists: Lists) -> list[dict[str, Any]]:
    """Return the categories with what each side has of them, in the order of the lists."""
    rows = []
    for category in lists.categories.all:
        found = {
            side: entry["own"]
            for side, facts in sides.items()
            for entry in facts["categories"]
            if entry["name"] == category.name and entry["ever"]
        }
        if found or category.name == UNCATEGORISED:
            rows.append({"name": category.name, "title": category.title, "sides": found})
    return rows


def _sides(run: Mapping[str, Any]) -> list[Any]:
    return list(run["sides"].values())


def _side(
    side: str, cell: Sequence[Repetition], lists: Lists, settings: StatisticsSettings
) -> dict[str, Any]:
    present = [one for one in cell if side in one.shares]

    def scaled(shares: list[Share], own: bool) -> dict[str, Any]:
        values = [one.own if own else one.inclusive for one in shares]
        pairs = list(zip(values, present, strict=True))
        return {
            "share": estimate(values, settings, is_share=True),
            "cpus": estimate([v * one.cpus(side) for v, one in pairs], settings),
            "ns_per_kib": estimate([v * one.ns_per_kib(side) for v, one in pairs], settings),
        }

    def table(pick: str, own: bool) -> dict[str, Any]:
        tables: list[Mapping[str, Share]] = [getattr(one.shares[side], pick) for one in present]
        names = dict.fromkeys(name for shares in tables for name in shares)
        return {
            name: scaled([shares.get(name, Share()) for shares in tables], own) for name in names
        }

    categories, within = table("categories", own=True), table("categories", own=False)
    return {
        "n": len(present),
        "cpus": estimate([one.cpus(side) for one in present], settings),
        "ns_per_kib": estimate([one.ns_per_kib(side) for one in present], settings),
        "samples": sum(_samples(one, side) for one in present),
        "categories": [
            {"name": category.name, "title": category.title, "own": categories[category.name],
             "inclusive": within[category.name],
             "ever": any(one.shares[side].categories.get(category.name, Share()).own > 0
                         for one in present)}
            for category in lists.categories.all
            if category.name in categories
        ],
        "top": _top(categories, lists),
        "uncategorised": max(
            one.shares[side].categories.get(UNCATEGORISED, Share()).own for one in present
        ),
        "functions": _busiest(side, present, lists, settings),
        "boxes": table("boxes", own=True),
        "box_functions": {
            box: busiest_function([one.shares[side] for one in present], box)
            for box in table("boxes", own=True)
        },
    }  # fmt: skip


def _top(categories: Mapping[str, Any], lists: Lists) -> list[str]:
    """Return the titles of the categories that take most, at most three."""
    titles = {category.name: category.title for category in lists.categories.all}
    known = [name for name in titles if name in categories]
    known.sort(key=lambda name: -categories[name]["share"]["median"])
    return [titles[name] for name in known[:_TOP_CATEGORIES]]


def _samples(one: Repetition, side: str) -> int:
    sampling = one.record["sampling"]
    return sampling["sides"][side]["samples"] if sampling else 0


def busiest_function(shares: Sequence[SideShares], box: str) -> str:
    """Return the function that put most samples into a box."""
    sums: dict[str, float] = {}
    for one in shares:
        for name, share in one.box_functions.get(box, {}).items():
            sums[name] = sums.get(name, 0.0) + share
    return max(sorted(sums), key=lambda name: sums[name]) if sums else ""


def working_function(stack: Stack, lists: Lists) -> str:
    """Return the innermost function that does not just work for its caller."""
    for frame in reversed(stack):
        if lists.categories.of_frame(frame) is not None:
            return frame
    return stack[-1]


def by_function(one: Repetition, side: str, lists: Lists) -> dict[str, float]:
    """Return the share of each function that works for itself; they add up to 1."""
    stacks = one.stacks[side]
    total = sum(stacks.values())
    found: dict[str, float] = {}
    for stack, weight in stacks.items():
        name = working_function(stack, lists)
        found[name] = found.get(name, 0.0) + weight / total
    return found


def _busiest(
    side: str, present: Sequence[Repetition], lists: Lists, settings: StatisticsSettings
) -> list[dict[str, Any]]:
    """Return the functions with the most time of their own."""
    tables = [by_function(one, side, lists) for one in present]
    sums: dict[str, float] = {}
    for table in tables:
        for name, share in table.items():
            sums[name] = sums.get(name, 0.0) + share
    ranked = sorted(sums, key=lambda name: (-sums[name], name))[:_TOP_FUNCTIONS]
    return [
        {
            "name": plain_name(name),
            "category": lists.categories.of_frame(name) or UNCATEGORISED,
            "share": estimate([table.get(name, 0.0) for table in tables], settings, is_share=True),
            "cpus": estimate(
                [
                    table.get(name, 0.0) * one.cpus(side)
                    for table, one in zip(tables, present, strict=True)
                ],
                settings,
            ),
        }
        for name in ranked
    ]
