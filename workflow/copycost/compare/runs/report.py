"""What a comparison says: lines on the terminal, and the report with its tables and figures."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.compare.audit.report import typeset
from copycost.compare.audit.wording import fill, lines_of
from copycost.compare.hosts.privacy import shown
from copycost.compare.runs.facts import CELL_COLUMNS
from copycost.compare.runs.gates import gate_line
from copycost.figures.axes import SCALE_NOTE, scale_of, size_axis, value_axis
from copycost.figures.layout import finish, new_sheet
from copycost.figures.lines import draw_lines
from copycost.figures.markers import families, in_order
from copycost.figures.output import save
from copycost.figures.style import INK, styled
from copycost.figures.tables import Drawn, Legend
from copycost.records.files import write_json
from copycost.report.typeset import Format
from copycost.wording.filters import exact_size, join_and, percent, ratio, span
from copycost.wording.markdown import code, escape
from copycost.wording.words import plural

TITLE = "Two sides compared"
_ABOUT = {"command": "compare", "about": "this with facts.json of the comparison"}
"""What to do where a template asks for a fact that there is not."""

_DIGEST, _LONG, _MOST_OF_A_PATH = 12, 64, 24
"""How much of a digest, of a value and of a path a column has room for [characters]."""

_MOST_LINES = 10
_ROW_CM = 4.6
_PANELS_MOST = 12


def write_report(facts: Facts, folder: Path, formats: Sequence[Format]) -> list[Path]:
    """Write facts, the table of cells, figures and the report into a folder; return the reports."""
    drawn = folder / "figures" / "ratios"
    drawn.mkdir(parents=True, exist_ok=True)
    write_json(facts, folder / "facts.json")
    cells = pd.concat(
        pd.DataFrame(q["cells"]).assign(quantity=q["name"]) for q in facts["quantities"]
    )[list(CELL_COLUMNS)]
    cells.to_csv(folder / "cells.csv", index=False)
    figures: list[Path] = []
    shown: dict[str, list[str]] = {}
    for quantity in facts["quantities"]:
        name = quantity["name"]
        shown[name] = []
        for number, figure in enumerate(figures_of(cells[cells["quantity"] == name]), 1):
            svg = drawn / f"{name}_{number}.svg"
            save(figure, svg)
            figures.append(svg)
            shown[name].append(f"assets/ratios/{svg.name}")
    return typeset(
        "between_runs.qmd.j2", folder, figures, formats, title=TITLE, subtitle=_sides(facts),
        running=_sides(facts, short=True), compared=facts, rows=table_rows(facts),
        figures=shown, **_ABOUT,
    )  # fmt: skip


def _sides(facts: Facts, *, short: bool = False) -> str:
    said = []
    for side, (first, *more) in facts["sides"].items():
        name = _end_of(first["folder"]) if short else first["folder"]
        said.append(f"{side.upper()}: {name}" + (f" and {len(more)} more" if more else ""))
    return "; ".join(said)


def figures_of(rows: pd.DataFrame) -> Iterator[Drawn]:
    """Yield the figures of a quantity: a panel per condition and number of threads, a few each."""
    rows = rows.sort_values(["condition", "n_threads"], kind="stable")
    threads = [plural(n_threads, "thread") for n_threads in rows["n_threads"]]
    rows = rows.assign(panel=rows["condition"] + ", " + threads)
    panels = rows["panel"].unique()
    for first in range(0, len(panels), _PANELS_MOST):
        part = rows[rows["panel"].isin(panels[first : first + _PANELS_MOST])]
        yield _draw(part.reset_index(drop=True))


@styled
def _draw(rows: pd.DataFrame) -> Drawn:
    data = rows.assign(value=rows["ratio"], lower_mode=np.nan, upper_mode=np.nan, n=rows["n_b"])
    names = in_order(list(dict.fromkeys(data["implementation"])))
    sheet = new_sheet(data, _ROW_CM, column="panel", share_y=True, groups=families(names))
    for panel in sheet.panels():
        axes = panel.axes
        axes.axhline(1.0, color=INK, lw=0.8, zorder=1.2)
        draw_lines(axes, panel.data, "msg_bytes", names)
        size_axis(axes, data["msg_bytes"], sheet.panel_width_cm)
        value_axis(axes, scale_of(data, "log"))
        if sheet.is_top(panel):
            axes.set_title(str(panel.data["panel"].iloc[0]))
        sheet.label(panel.place, "message size", "B / A")
    note = [f"{SCALE_NOTE['log']}; an interval may extend beyond it."]
    return Drawn(finish(sheet, data, Legend(tuple(names), {}), note), rows)


def table_rows(facts: Facts) -> dict[str, Any]:
    """Return the rows of each table by its name; those of a quantity by its name too."""
    quantities = facts["quantities"]
    return {
        "verdicts": [[q["title"], *verdict_of(q)] for q in quantities],
        "gates": list(map(gate_line, facts["gates"])),
        "runs": [
            [side.upper(), escape(_end_of(run["folder"])),
             code(run["commit"][:_DIGEST]) if run["commit"] else "several or none",
             escape(run["kernel"]), escape(run["started_at"][:16].replace("T", " ")),
             str(run["n_cells"]), span(run["rounds_min"], run["rounds_max"], str),
             f"{run['n_warned']} of {run['n_repetitions']}"]
            for side, runs in facts["sides"].items()
            for run in runs
        ],
        "differs": [
            [one["group"] + (f" of {one['n_cells']} cells" if "n_cells" in one else ""),
             code(one["name"]), *(escape(shown(join_and(one[side]), _LONG)) for side in ("a", "b"))]
            for one in facts["differs"]
        ],
        "groups": {
            q["name"]: [
                ["all cells", *_mean_of(q)],
                *([f"{code(one['implementation'])} on {code(one['condition'])}", *_ratio(one)]
                  for one in q["ways"]),
                *([exact_size(one["msg_bytes"]), *_ratio(one)] for one in q["sizes"]),
            ]
            for q in quantities
        },
        "cells": {
            q["name"]: [
                [code(one["condition"]), code(one["implementation"]), exact_size(one["msg_bytes"]),
                 str(one["n_threads"]), *_ratio(one)]
                for one in q["cells"]
            ]
            for q in quantities
        },
    }  # fmt: skip


def _ratio(found: Facts) -> list[str]:
    low, high = found["low"], found["high"]
    interval = "none" if low is None or high is None else f"{ratio(low)} to {ratio(high)}"
    return [ratio(found["ratio"]), interval, found["verdict"]]


def _mean_of(q: Facts) -> list[str]:
    """Return ratio, interval and verdict over all cells, but of cells that contradict each other.

    A single ratio would speak for neither.
    """
    return ["none", "none", "better and worse"] if q["contradicts"] else _ratio(q["whole"])


def verdict_of(q: Facts) -> list[str]:
    """Return what is said of a quantity over all cells.

    The ratio, its interval, the verdict, cells better/open/worse in B, the difference that would
    have stood in a cell, and by how much runs of one side differed over all cells.
    """
    n_open = q["n_cells"] - q["n_better"] - q["n_worse"]
    spread = q["spread_of_runs"]
    return [
        *_mean_of(q),
        f"{q['n_better']}/{n_open}/{q['n_worse']}",
        "none" if q["half_width"] is None else percent(q["half_width"]),
        "not known"
        if spread is None
        else f"{percent(spread['cell'])} in a cell, {percent(spread['whole'])} over all",
    ]


def _end_of(folder: str) -> str:
    """Return as much of the end of a path as a column has room for; `facts.json` has the whole.

    No word of a table is broken, so a long path would leave the other columns too narrow.
    """
    parts = folder.split("/")
    while len(parts) > 1 and len("/".join(parts)) > _MOST_OF_A_PATH:
        del parts[0]
    end = "/".join(parts)
    return end if end == folder else f".../{end}"


def summary_lines(facts: Facts) -> list[str]:
    """Return the lines that are printed, of at most 80 columns; no folder's name is broken."""
    rows = table_rows(facts)
    standing = {q["name"]: list(_standing(q)) for q in facts["quantities"]}
    said = fill("between_runs.txt.j2", compared=facts, rows=rows, standing=standing, **_ABOUT)
    return lines_of(said)


def _standing(q: Facts) -> Iterator[str]:
    """Yield a line per cell that stands, worst first."""
    standing = [cell for cell in q["cells"] if cell["sign"]]
    standing.sort(key=lambda cell: (cell["better"], cell["p_holm"]))
    for cell in standing[:_MOST_LINES]:
        where = (
            f"{cell['condition']} {cell['implementation']} {exact_size(cell['msg_bytes'])} x "
            f"{plural(cell['n_threads'], 'thread')}"
        )
        found, interval, verdict = _ratio(cell)
        yield f"  {verdict:14} {where:40} {found} ({interval})"
    if len(standing) > _MOST_LINES:
        yield f"  and {len(standing) - _MOST_LINES} more, in the report"
