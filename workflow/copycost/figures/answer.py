"""Figure: throughput as a multiple of two_copy's, a panel per condition."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from copycost.analysis.metrics import BASELINE, THROUGHPUT, copied_labels
from copycost.figures.axes import scale_of
from copycost.figures.layout import Panel, finish, new_sheet
from copycost.figures.lines import Frame, draw_panels
from copycost.figures.markers import in_order
from copycost.figures.style import QUIET, SHADE, styled
from copycost.figures.tables import COLUMNS, Drawn, Legend, left_out
from copycost.figures.text import empty_figure
from copycost.wording.numbers import NBSP
from copycost.wording.words import plural

_CONDITIONS_MOST = 6


@styled
def draw(facts: Mapping[str, Any], ratios: pd.DataFrame, summary: pd.DataFrame) -> Drawn:
    """Draw the ratio of each way's throughput to that of two_copy against message size.

    With the fewest threads. The band is what two_copy against itself came to under the same
    condition.
    """
    every = _points(facts, ratios)
    if every.empty:
        return Drawn(empty_figure(f"Nothing to compare: needs {BASELINE} and another."), every)
    n_threads = int(every["n_threads"].min())
    data = every[every["n_threads"] == n_threads].reset_index(drop=True)
    shown = list(data["condition"].unique())[:_CONDITIONS_MOST]
    data = data[data["condition"].isin(shown)].reset_index(drop=True)
    names = in_order(facts["grid"]["implementations"])
    sheet = new_sheet(data, 4.2, column="condition", n_columns=min(len(shown), 3))
    label = f"throughput / {BASELINE}"

    def frame_of(panel: Panel) -> Frame:
        slug = panel.data["condition"].iloc[0]
        return Frame(scale_of(panel.data, "log"), label, facts["conditions"][slug]["label"])

    of_panels = draw_panels(sheet, data, "msg_bytes", names, frame_of)
    bands = {
        one["slug"]: one["throughput"] for one in (facts["control"] or {}).get("conditions", [])
    }
    for panel in sheet.panels():
        panel.axes.axhline(1.0, color=QUIET, linewidth=0.8, zorder=1.0)
        band = bands.get(panel.data["condition"].iloc[0])
        if band and not band["once"]:
            panel.axes.axhspan(band["low"], band["high"], color=SHADE, lw=0, zorder=0.5)
    confidence = facts["method"]["statistics"]["confidence"]
    note = [
        f"{plural(n_threads, 'thread')}; bars: {confidence * 100:g}{NBSP}% intervals of the "
        "repetitions' own ratios, corrected (Holm) for sizes and thread counts; no difference was "
        "seen where a bar crosses 1.",
        f"Band: {BASELINE} against itself, over all sizes." if bands else "",
        "Vertical axes logarithmic.",
        *of_panels,
        left_out(every["n_threads"], [n_threads], "threads"),
    ]
    return Drawn(finish(sheet, data, Legend(names, copied_labels(summary)), note), data)


def _points(facts: Mapping[str, Any], ratios: pd.DataFrame) -> pd.DataFrame:
    """Return one row per condition, way, size and thread count: see `COLUMNS`."""
    wanted = (ratios["metric"] == THROUGHPUT) & (ratios["baseline"] == BASELINE)
    rows = ratios[wanted & ratios["condition"].isin(facts["measured_conditions"])]
    rows = rows[rows["n_pairs"] > 0].rename(columns={"ratio": "value", "n_pairs": "n"})
    found = rows.assign(
        quantity=f"throughput / {BASELINE}", unit="", n_failed=0, n_skipped=0, state="measured",
        lower_mode=float("nan"), upper_mode=float("nan"),
    )[list(COLUMNS)]  # fmt: skip
    order = {slug: place for place, slug in enumerate(facts["measured_conditions"])}
    return found.sort_values(
        ["condition", "implementation", "msg_bytes", "n_threads"],
        key=lambda column: column.map(order) if column.name == "condition" else column,
        ignore_index=True,
    )
