"""The flame graphs of the study, each with the numbers behind it."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from copycost.records.cpu_attribution import EMULATED
from copycost.studies.profile.cell_facts import accelerator_of, labels_of
from copycost.studies.profile.flame import flame_graph
from copycost.studies.profile.functions import Stack
from copycost.studies.profile.grid import CellKey
from copycost.studies.profile.names import flame_figure, parties_on, slug_of
from copycost.studies.profile.shares import Lists
from copycost.studies.profile.tables import Repetition, by_cell
from copycost.wording.filters import exact_size
from copycost.wording.words import party, plural


def draw_all(repetitions: Sequence[Repetition], lists: Lists, folder: Path) -> None:
    """Write every picture of `figure_names`, ``NAME.svg`` and ``NAME.csv``."""
    folder.mkdir(parents=True, exist_ok=True)
    measured = by_cell(repetitions)
    for key in dict.fromkeys(one.key for one in repetitions):
        for side in parties_on(key.testbed):
            path = folder / f"{flame_figure(slug_of(key), side)}.svg"
            _draw_flame(key, side, measured.get(key, ()), lists, path)


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
        scale = 1.0 / len(present) / sum(one.stacks[side].values())
        for stack, weight in one.stacks[side].items():
            stacks[stack] = stacks.get(stack, 0.0) + weight * scale
    title = f"{describe(key, cell)}: {party(side)}"
    svg = flame_graph(title, party(side), stacks, lists.categories) if stacks else _nothing(title)
    path.write_text(svg, encoding="utf-8")
    rows = [
        ("measured", side, ";".join(stack), share)
        for stack, share in sorted(stacks.items(), key=lambda item: (-item[1], item[0]))
    ]
    table = pd.DataFrame(rows, columns=["state", "side", "call_path", "own_share"])
    table.to_csv(path.with_suffix(".csv"), index=False, lineterminator="\n")


def _nothing(title: str) -> str:
    """Return the picture of what was not measured, which the report does not show."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 20" width="760" height="20">'
        f"<title>{title}: not measured</title></svg>\n"
    )
