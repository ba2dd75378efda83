"""The pictures of the study, each with the numbers behind it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from copycost.grid.testbeds import guests_on, transport_of
from copycost.records.parties import EMULATED
from copycost.studies.profile.cell_facts import accelerator_of, labels_of
from copycost.studies.profile.copies import number_copies
from copycost.studies.profile.diagram import Measured, data_path_diagram
from copycost.studies.profile.difference_facts import rounds_of
from copycost.studies.profile.flame import aligned, difference_graph, flame_graph
from copycost.studies.profile.functions import Stack
from copycost.studies.profile.grid import CellKey
from copycost.studies.profile.guest_diagram import GuestPath
from copycost.studies.profile.names import (
    Pair,
    difference_figure,
    flame_figure,
    pair_slug,
    pairs_of,
    parties_on,
    path_figure,
    slug_of,
)
from copycost.studies.profile.shares import Lists, Share, SideShares
from copycost.studies.profile.tables import Repetition, by_cell
from copycost.wording.filters import exact_size
from copycost.wording.parties import party
from copycost.wording.plurals import plural

COST_UNIT = "ns/KiB"

Cells = Mapping[CellKey, Sequence[Repetition]]
Row = tuple[object, ...]


def draw_all(
    repetitions: Sequence[Repetition],
    differences: Sequence[tuple[str, str]],
    lists: Lists,
    folder: Path,
) -> None:
    """Write every picture of `figure_names`, ``NAME.svg`` and ``NAME.csv``.

    Parameters
    ----------
    repetitions : sequence of Repetition
        All of the grid, also those without a measurement.
    differences : sequence of pairs
        Pairs of implementations.
    lists : Lists
        What functions are.
    folder : Path
        Where they go; it is made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    measured = by_cell(repetitions)
    every: Cells = {one.key: measured.get(one.key, ()) for one in repetitions}
    for key, cell in every.items():
        _draw_path(key, cell, lists, folder / f"{path_figure(slug_of(key))}.svg")
        for side in parties_on(key.testbed):
            _draw_flame(key, side, cell, lists, folder / f"{flame_figure(slug_of(key), side)}.svg")
    for pair in pairs_of(every, differences):
        for side in parties_on(pair[0].testbed):
            path = folder / f"{difference_figure(pair_slug(pair), side)}.svg"
            _draw_difference(pair, side, every, lists, path)


def describe(key: CellKey, cell: Sequence[Repetition]) -> str:
    """Return a cell in words: ``two_copy, 64 KiB, 1 thread, veth``, with its label if any."""
    implementation, threads = key.implementation, plural(int(key.n_threads), "thread")
    label = labels_of({implementation: cell}).get(implementation)
    name = implementation if label is None else f"{implementation} ({label})"
    emulated = ", emulated" if accelerator_of(cell) == EMULATED else ""
    return f"{name}, {exact_size(key.msg_bytes)}, {threads}, {key.condition}{emulated}"


def _draw_flame(
    key: CellKey, side: str, cell: Sequence[Repetition], lists: Lists, path: Path
) -> None:
    """Draw the stacks of all repetitions together, each repetition with the same weight."""
    present = [one for one in cell if side in one.shares]
    stacks: dict[Stack, float] = {}
    for one in present:
        _add(stacks, one.stacks[side], 1.0 / len(present) / sum(one.stacks[side].values()))
    columns = ("state", "side", "call_path", "own_share")
    if not stacks:
        _write(path, _nothing(f"{describe(key, cell)}: {party(side)}"), columns, [])
        return
    title = f"{describe(key, cell)}: {party(side)}"
    rows = [("measured", side, ";".join(stack), share) for stack, share in _ranked(stacks)]
    _write(path, flame_graph(title, party(side), stacks, lists.categories), columns, rows)


def _draw_difference(pair: Pair, side: str, cells: Cells, lists: Lists, path: Path) -> None:
    """Draw what changes in CPU time per KiB, over the rounds that both have."""
    rounds = [both for both in rounds_of(cells, pair) if all(side in one.shares for one in both)]
    tables: tuple[dict[Stack, float], dict[Stack, float]] = ({}, {})
    for both in rounds:
        for one, stacks in zip(both, tables, strict=True):
            scale = one.ns_per_kib(side) / len(rounds) / sum(one.stacks[side].values())
            _add(stacks, one.stacks[side], scale)
    before, after = (aligned(stacks, lists.categories) for stacks in tables)
    columns = ("state", "side", "call_path", "before_ns_per_kib", "after_ns_per_kib")
    title = f"{describe(pair[0], cells[pair[0]])}, to {_labelled(pair, cells)}: {party(side)}"
    if not rounds:
        _write(path, _nothing(title), columns, [])
        return
    both_of = dict.fromkeys([*before, *after])
    rows = [
        ("measured", side, ";".join(stack), before.get(stack, 0.0), after.get(stack, 0.0))
        for stack in both_of
    ]
    svg = difference_graph(title, party(side), before, after, COST_UNIT)
    _write(path, svg, columns, rows)


def _labelled(pair: Pair, cells: Cells) -> str:
    """Return the name of the second implementation of a pair, with its label if it has one."""
    name = pair[1][2]
    label = labels_of({name: cells[pair[1]]}).get(name)
    return name if label is None else f"{name} ({label})"


def _draw_path(key: CellKey, cell: Sequence[Repetition], lists: Lists, path: Path) -> None:
    """Draw the means over the repetitions."""
    columns = (
        *("state", "box", "lane", "copies", "function"),
        *(f"{party}_cpu_percent" for party in parties_on(key.testbed)),
    )
    if not cell:
        _write(path, _nothing(describe(key, cell)), columns, [])
        return
    parties = parties_on(key.testbed)
    boxes = [
        box
        for box in lists.data_path.boxes
        if guests_on(key.testbed) or not box.lane.startswith("host")
    ]
    measured = {box.name: _measured(box.name, cell, parties) for box in boxes}
    totals = {
        party: _mean([one.cpu_percent(party) for one in cell])
        for party in parties
        if all(party in one.shares for one in cell)
    }
    rows: list[Row] = [
        (
            "measured" if measured[box.name].seen else "not seen",
            box.name,
            box.lane,
            box.copies,
            measured[box.name].function,
            *(measured[box.name].cpu_percent.get(party, "") for party in parties),
        )
        for box in boxes
    ]
    title, transport = describe(key, cell), transport_of(key[1])
    if guests_on(key.testbed):
        numbers = number_copies(cell, lists.data_path)
        svg = GuestPath(boxes, measured, list(totals), transport, numbers).svg(title, totals)
    else:
        svg = data_path_diagram(title, boxes, measured, totals, transport)
    _write(path, svg, columns, rows)


def _measured(box: str, cell: Sequence[Repetition], parties: Sequence[str]) -> Measured:
    cpu_percent = {}
    for side in parties:
        if all(side in one.shares for one in cell):
            cpu_percent[side] = _mean(
                [
                    one.shares[side].boxes.get(box, Share()).own * one.cpu_percent(side)
                    for one in cell
                ]
            )
    shares = {side: [one.shares[side] for one in cell if side in one.shares] for side in parties}
    every = [one for side in parties for one in shares[side]]
    functions = {side: _busiest_function(found, box) for side, found in shares.items()}
    return Measured(cpu_percent, _busiest_function(every, box), functions)


def _busiest_function(shares: Sequence[SideShares], box: str) -> str:
    """Return the function that put most samples into a box."""
    sums: dict[str, float] = {}
    for one in shares:
        for name, share in one.box_functions.get(box, {}).items():
            sums[name] = sums.get(name, 0.0) + share
    return max(sorted(sums), key=lambda name: sums[name]) if sums else ""


def _nothing(title: str) -> str:
    """Return the picture of what was not measured; the report shows a sentence instead."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 20" width="760" height="20">'
        f"<title>{title}: not measured</title></svg>\n"
    )


def _add(stacks: dict[Stack, float], more: Mapping[Stack, int], scale: float) -> None:
    for stack, weight in more.items():
        stacks[stack] = stacks.get(stack, 0.0) + weight * scale


def _ranked(stacks: Mapping[Stack, float]) -> list[tuple[Stack, float]]:
    return sorted(stacks.items(), key=lambda item: (-item[1], item[0]))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _write(path: Path, svg: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
    path.write_text(svg, encoding="utf-8")
    table = pd.DataFrame(rows, columns=list(columns))
    table.to_csv(path.with_suffix(".csv"), index=False, lineterminator="\n")
