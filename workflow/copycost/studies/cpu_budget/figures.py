"""The figure of the CPU budget: what bitrate the CPU bought."""

import itertools
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import seaborn as sns

from copycost.figures.axes import scale_of, value_axis
from copycost.figures.panels import draw_fits, draw_points, finish, name_panel, note_on_points
from copycost.figures.style import styled
from copycost.figures.tables import Drawn
from copycost.figures.text import empty_figure
from copycost.records.columns import SIDES
from copycost.studies.shared_facts import panels, scaled_ends
from copycost.wording.filters import significant

_PANEL_CM = 5.6
_DRAWN = {
    "gbit_per_s": "value", "gbit_low": "low", "gbit_high": "high", "fitted_gbit_per_s": "fitted",
    "saturated": "hollow",
}  # fmt: skip
_NOTHING_MEASURED = "No CPU limit was measured."
# from the outermost point to the end of an axis, so that its marker is whole
_ROOM = 1.06


def points_table(facts: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per point and side of every curve.

    CPU is in % of one CPU, bitrates in Gbit/s, both with intervals; `fitted_gbit_per_s` is on the
    line, within its range, and NaN elsewhere.
    """
    rows = []
    for panel, curve in panels(facts["curves"], "implementation", "limiter"):
        for side, point in itertools.product(SIDES, curve["points"]):
            line, cpu = curve["lines"][side], point[side]
            fitted = None
            if line is not None and point["limit_percent"] in line["limits"]:
                bits_per_s = line["intercept"]["value"] + line["slope"]["value"] * cpu["median"]
                fitted = bits_per_s / 1e9
            rows.append(
                (
                    *(panel, curve["n_threads"], point["limit_percent"], side),
                    *(point["offered_percent"], *scaled_ends(cpu, 1.0)),
                    *(*scaled_ends(point["bits_per_s"], 1e-9), fitted, point["saturated"]),
                    "measured",
                )
            )
    return pd.DataFrame(rows, columns=list(_COLUMNS))


_COLUMNS = (
    "panel", "n_threads", "limit_percent", "side", "offered_percent", "cpu_percent", "cpu_low",
    "cpu_high", "gbit_per_s", "gbit_low", "gbit_high", "fitted_gbit_per_s", "saturated", "state",
)  # fmt: skip


@styled
def draw_bitrate(facts: Mapping[str, Any]) -> Drawn:
    """Draw the bitrate against the CPU use of the senders and of the receivers, with the lines.

    Saturated points are hollow.
    """
    data = points_table(facts)
    if data.empty:
        return Drawn(empty_figure(_NOTHING_MEASURED), data)
    # emulated guests reach so little that next to the others nothing would be seen of them
    share_y = len({curve["emulated"] for curve in facts["curves"]}) == 1
    grid = sns.FacetGrid(
        data, col="panel", row="side", sharex=False, sharey="row" if share_y else False
    )
    drawn = data.rename(columns=_DRAWN)
    for (side, panel), axes in grid.axes_dict.items():
        here = drawn[drawn["panel"] == panel]
        part = here[here["side"] == side]
        draw_fits(axes, part, "cpu_percent")
        draw_points(axes, part, "cpu_percent", _tip)
        axes.set_xlim(0, float(part["cpu_percent"].max()) * _ROOM)
        value_axis(axes, scale_of(drawn if share_y else here, "linear"))
        x_label = f"{side}'s CPU [% of one CPU]"
        n_columns = len(grid.col_names)
        name_panel(axes, n_columns, f"{panel}, {side}", x_label, "bitrate [Gbit/s]")
    note = [
        "Lines: fitted over the linear range.",
        note_on_points(facts, data["gbit_low"]),
        "Hollow: saturated; the senders could not use the CPU time offered."
        if data["saturated"].any()
        else "",
        "" if share_y else "Each column has its own scale.",
    ]
    return Drawn(finish(grid, data, note, 2 * _PANEL_CM), data)


def _tip(row: Mapping[Hashable, Any]) -> str:
    return (
        f"{row['side']}: {significant(row['value'])} Gbit/s with "
        f"{significant(row['cpu_percent'])} % of a CPU, {row['offered_percent']:g} % offered"
    )
