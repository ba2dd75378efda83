"""Figure: throughput ratio to two_copy, message size by threads, one map per implementation."""

import math
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.figures.sheet import Sheet, empty_figure, finish, new_sheet
from copycost.figures.style import INK, QUIET, styled
from copycost.figures.tables import COLUMNS, Drawn, Tables
from copycost.sizes import format_size

_TICKS = (1.05, 1.1, 1.25, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_LEAST_REACH = 1.25
_DARK = 0.5
_SAME = "no difference seen"
_TEXTS = {_SAME: "({})", "observed once": "{}*"}


@styled
def draw(tables: Tables) -> Drawn:
    """Draw the ratio of each implementation's throughput to that of two_copy as coloured cells.

    The colours are centred on 1 and logarithmic, so that half and twice are equally strong. Every
    cell holds its number: brackets where the interval holds 1, hatching where nothing was measured.
    """
    data = _ratios(tables)
    if data.empty:
        sentence = f"Nothing to compare on {tables.testbed}: this takes {BASELINE} and another."
        return Drawn(empty_figure(sentence), data)
    if data["value"].isna().all():
        return Drawn(empty_figure(f"No measured cells on {tables.testbed}."), data)
    names = [name for name in tables.implementations if (data["implementation"] == name).any()]
    n_columns = 1 if len(names) <= 4 else 2
    shape = -(-len(names) // n_columns), n_columns
    counts = sorted(data["n_threads"].unique())
    sizes = sorted(data["msg_bytes"].unique())
    sheet = new_sheet(shape, 0.62 * len(counts) + 1.0)
    colours = _colours(data["value"])
    roomy = sheet.panel_width_cm / len(sizes) > 1.7
    for place, name in enumerate(names):
        axes = sheet.flat[place]
        _draw_map(axes, data[data["implementation"] == name], sizes, counts, colours, roomy=roomy)
        _label_every(axes, sizes, sheet.panel_width_cm)
        axes.set_title(f"{name} / {BASELINE}")
        sheet.label(place, len(names), "message size", "threads")
    _draw_scale(sheet, len(names), colours)
    return Drawn(finish(sheet, data, (), _note(data), extra_cm=1.35), data)


def _ratios(tables: Tables) -> pd.DataFrame:
    """Return one row per cell and implementation: `COLUMNS` and the verdict."""
    table = tables.ratios
    rows = table[(table["metric"] == THROUGHPUT) & (table["baseline"] == BASELINE)]
    summary = tables.summary[tables.summary["metric"] == THROUGHPUT]
    key = ["implementation", "msg_bytes", "n_threads"]
    rows = rows.merge(summary[[*key, "n", "n_failed", "n_skipped"]], on=key, how="left")
    rows["quantity"], rows["unit"] = f"throughput ratio to {BASELINE}", "1"
    rows["value"] = rows["ratio"]
    rows["state"] = [
        "measured" if pairs else "no baseline" if n else "failed" if failed else "skipped"
        for pairs, n, failed in zip(rows["n_pairs"], rows["n"], rows["n_failed"], strict=True)
    ]
    rows["n"] = rows["n_pairs"]
    rows["order"] = [tables.implementations.index(name) for name in rows["implementation"]]
    rows = rows.sort_values(["order", "n_threads", "msg_bytes"], kind="stable")
    return rows[[*COLUMNS, "verdict"]].reset_index(drop=True)


def _colours(ratios: pd.Series) -> ScalarMappable:
    """Return the colour scale: red below 1, blue above, as far on one side as on the other."""
    known = ratios.dropna()
    reach = max(float(known.max()), 1 / float(known.min()), _LEAST_REACH)
    # Without the darkest ends, whose red and blue look alike in print without colour.
    ends = [mpl.colormaps["RdBu"](0.1 + 0.8 * step / 255) for step in range(256)]
    colours = LinearSegmentedColormap.from_list("ratio", ends)
    return ScalarMappable(LogNorm(1 / reach, reach), colours)


def _draw_map(
    axes: Axes,
    data: pd.DataFrame,
    sizes: Sequence[int],
    counts: Sequence[int],
    colours: ScalarMappable,
    *,
    roomy: bool,
) -> None:
    """Draw all cells of one map; `roomy` cells have space for the word why they are empty."""
    cells = data.set_index(["msg_bytes", "n_threads"])
    for column, size in enumerate(sizes):
        for row, count in enumerate(counts):
            known = (size, count) in cells.index
            ratio = float(cells["value"][size, count]) if known else math.nan
            if not math.isnan(ratio):
                verdict = str(cells.at[(size, count), "verdict"])
                _draw_ratio(axes, (column, row), ratio, verdict, colours)
            else:
                state = str(cells.at[(size, count), "state"]) if known and roomy else ""
                _draw_hole(axes, (column, row), state)
    axes.set_xlim(-0.5, len(sizes) - 0.5)
    axes.set_ylim(-0.5, len(counts) - 0.5)
    axes.set_yticks(range(len(counts)), [str(count) for count in counts])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _draw_ratio(
    axes: Axes, place: tuple[int, int], ratio: float, verdict: str, colours: ScalarMappable
) -> None:
    text = _TEXTS.get(verdict, "{}").format(_short(ratio))
    red, green, blue, _ = colours.to_rgba(np.array([ratio]))[0]
    if verdict == _SAME:
        # A frame instead of a full cell: the eye shall not take it for an established difference.
        axes.add_patch(_cell(place, 0.04, facecolor="white", edgecolor=(red, green, blue), lw=2.2))
        axes.text(*place, text, ha="center", va="center_baseline", color=INK)
        return
    axes.add_patch(_cell(place, facecolor=(red, green, blue), lw=0))
    dark = 0.299 * red + 0.587 * green + 0.114 * blue < _DARK
    axes.text(*place, text, ha="center", va="center_baseline", color="white" if dark else INK)


def _draw_hole(axes: Axes, place: tuple[int, int], state: str) -> None:
    axes.add_patch(_cell(place, facecolor="white", edgecolor=QUIET, hatch="////", lw=0.3))
    if state:
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
        axes.text(*place, state, ha="center", va="center_baseline", fontsize=7, bbox=box)


def _cell(place: tuple[int, int], inset: float = 0.0, **look: Any) -> Rectangle:  # noqa: ANN401
    corner = (place[0] - 0.48 + inset / 4, place[1] - 0.46 + inset)
    return Rectangle(corner, 0.96 - inset / 2, 0.92 - 2 * inset, **look)


def _short(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def _label_every(axes: Axes, sizes: Sequence[int], width_cm: float) -> None:
    """Label the columns, every other one or fewer where they are narrow."""
    step = -(-len(sizes) * 1.45 // width_cm)
    axes.set_xticks(
        range(len(sizes)),
        ["" if place % step else format_size(size) for place, size in enumerate(sizes)],
    )


def _draw_scale(sheet: Sheet, n_panels: int, colours: ScalarMappable) -> None:
    reach = float(np.max(colours.get_clim()))
    steps = [tick for tick in _TICKS if tick <= reach * 1.001]
    # Few enough for their labels: the outermost, and those not within 15 % of the scale of others.
    kept = [1.0]
    for tick in steps:
        if math.log(tick / kept[-1]) > 0.15 * math.log(reach):
            kept.append(tick)
    ticks = [*(1 / tick for tick in reversed(kept[1:])), *kept]
    bar = sheet.figure.colorbar(
        colours,
        ax=sheet.flat[:n_panels],
        location="bottom",
        aspect=55,
        shrink=0.7,
        label=f"throughput ratio to {BASELINE}, logarithmic colours",
    )
    bar.ax.xaxis.set_major_locator(FixedLocator(ticks))
    bar.ax.xaxis.set_minor_locator(NullLocator())
    bar.ax.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:.3g}"))
    bar.outline.set_visible(False)


def _note(data: pd.DataFrame) -> list[str]:
    verdicts = set(data["verdict"])
    n_pairs = data.loc[data["n"] > 0, "n"]
    few = "" if n_pairs.min() == n_pairs.max() else "up to "
    return [
        f"Ratios paired over {few}{n_pairs.max()} rounds." if n_pairs.max() > 1 else "",
        "Blue: more throughput, red: less.",
        "Frame and (…): no difference seen, the interval holds 1." if _SAME in verdicts else "",
        "*: observed once, no interval." if "observed once" in verdicts else "",
        "Hatched: not measured." if "not measured" in verdicts else "",
    ]
