"""Figure: what copying a byte costs, by where it lies."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from copycost.figures.axes import EDGE_NOTE, scale_of, size_axis, value_axis
from copycost.figures.style import INK, QUIET, styled
from copycost.figures.tables import Drawn
from copycost.figures.text import NOTE_PT, add_tips, empty_figure, put_words, size_label, value_tip
from copycost.wording.numbers import NBSP

COLUMNS = ("bytes", "quantity", "unit", "value", "low", "high", "n", "state")
"""Columns of the CSV: `bytes` is the working set of a copy."""

_PANEL_CM = 6.0
_CACHES = (("l1d_bytes", "L1d"), ("l2_bytes", "L2"), ("llc_bytes", "last level"))


@styled
def draw(facts: Mapping[str, Any]) -> Drawn:
    """Draw memcpy over the working set, the host's caches marked."""
    points = facts["memory"]["points"] if facts["memory"] else []
    data = pd.DataFrame(points, columns=["bytes", "ns_per_byte", "low", "high", "n"])
    data = data.rename(columns={"ns_per_byte": "value"})
    data = data.assign(quantity="memcpy", unit="ns/B", state="measured")[list(COLUMNS)]
    data = data.astype(dict.fromkeys(("value", "low", "high"), "float64"))
    if data.empty:
        return Drawn(empty_figure("The cost of copying memory was not measured."), data)
    figure = Figure(layout="constrained")
    axes = figure.subplots()
    sns.lineplot(data, x="bytes", y="value", color=INK, marker="o", markersize=3.8,
                 markeredgecolor="white", ax=axes, gid="memcpy")  # fmt: skip
    reach = np.array([data["value"] - data["low"], data["high"] - data["value"]])
    axes.errorbar(
        data["bytes"], data["value"], yerr=np.clip(np.nan_to_num(reach), 0, None), fmt="none",
        ecolor=INK, elinewidth=0.9, capsize=1.8, zorder=1.9,
    )  # fmt: skip
    tips = [f"{size_label(row['bytes'])}: {value_tip(row)}" for row in data.to_dict("records")]
    add_tips(axes, data["bytes"], data["value"], tips)
    size_axis(axes, [int(size) for size in data["bytes"]], 13.0)
    scale = scale_of(data, "log")
    value_axis(axes, scale)
    axes.set(
        title="one plain copy (memcpy)",
        xlabel="working set, source and destination together",
        ylabel="cost per byte [ns/B]",
    )
    least, most = axes.get_xlim()
    for key, name in _CACHES:
        size = facts["host"]["cpu"]["caches"].get(key)
        if size and least < size < most:
            axes.axvline(size, color=QUIET, lw=0.8, ls=(0, (4, 2)), zorder=1, gid=f"cache-{key}")
            axes.annotate(
                f"{name}{NBSP}{size_label(size)}", (size, 1), (-2.5, -3),
                xycoords=("data", "axes fraction"), textcoords="offset points", rotation=90,
                ha="right", va="top", fontsize=NOTE_PT, color=QUIET,
            )  # fmt: skip
    note = [f"Median of {int(data['n'].max())}{NBSP}repetitions; dashed: cache sizes of the host."]
    if ((data["low"] < scale.low) | (data["high"] > scale.high)).any():
        note.append(EDGE_NOTE)
    put_words(figure, _PANEL_CM, note)
    return Drawn(figure, data)
