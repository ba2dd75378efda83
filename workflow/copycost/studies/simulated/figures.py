"""The figure of simulated counts: misses per line against size."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import seaborn as sns

from copycost.figures.axes import size_axis
from copycost.figures.layout import finish, new_sheet
from copycost.figures.markers import in_order, way_styles
from copycost.figures.style import QUIET, styled
from copycost.figures.tables import Drawn, Legend
from copycost.figures.text import add_tips, empty_figure, size_label
from copycost.studies.simulated.reading import LEVELS
from copycost.wording.filters import significant

_PANEL_CM = 3.0
_NAMES = {"l1d": "L1d", "l2": "L2", "llc": "last level"}
COLUMNS = ("panel", "implementation", "level", "msg_bytes", "user", "kernel", "total",
           "cache_bytes", "state")  # fmt: skip


@styled
def draw_misses(facts: Mapping[str, Any]) -> Drawn:
    """Draw misses per line against size: a row per level, a column per condition.

    `user`, `kernel` and `total` are simulated misses per line of payload, of both sides;
    `cache_bytes` is the size of the simulated level.
    """
    rows = [
        {
            "panel": f"{condition['testbed']}, {condition['working_set']}",
            **point,
            "cache_bytes": facts["machine"]["caches"][point["level"]]["size_bytes"],
            "state": "measured",
        }
        for condition in facts["conditions"]
        for point in condition["misses"]
    ]
    data = pd.DataFrame(rows, columns=[*COLUMNS])
    if data.empty:
        return Drawn(empty_figure("No counts were simulated."), data)
    names = in_order(data["implementation"])
    styles = way_styles(names)
    sheet = new_sheet(data, _PANEL_CM, row="level", column="panel", share_y="row")
    for panel in sheet.panels():
        axes, part = panel.axes, panel.data
        for name in names:
            line = part[part["implementation"] == name]
            sns.lineplot(line, x="msg_bytes", y="total", estimator=None, legend=False, ax=axes,
                         **styles[name].as_line())  # fmt: skip
            tips = [
                f"{name}, {size_label(row['msg_bytes'])}: {significant(row['total'])} "
                f"simulated misses per line, {significant(row['user'])} by the application"
                for row in line.to_dict("records")
            ]
            add_tips(axes, line["msg_bytes"], line["total"], tips)
        half = part["cache_bytes"].iloc[0] / 2
        if part["msg_bytes"].min() < half < part["msg_bytes"].max():
            axes.axvline(half, color=QUIET, lw=0.8, ls=(0, (4, 2)), zorder=1)
        size_axis(axes, part["msg_bytes"], sheet.panel_width_cm)
        level = part["level"].iloc[0]
        sheet.label(panel.place, "message size", _NAMES[level])
        axes.set_title(part["panel"].iloc[0] if level == LEVELS[0] else "")
        axes.grid(axis="y")
        # small counts look small
        axes.set_ylim(0, 1.08 * max(1.0, data[data["level"] == level]["total"].max()))
    note = (
        "Simulated misses of each level per line of payload, both sides; no intervals, since two "
        "runs count the same. Dashed: half the cache, the largest message that fits with a copy."
    )
    return Drawn(finish(sheet, data, Legend(names, {}), [note]), data)
