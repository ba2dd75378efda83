"""Figure: throughput ratio to two_copy, message size by threads, one map per implementation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_rgb
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.figures.layout import Sheet, finish, new_sheet
from copycost.figures.style import EDGE, INK, QUIET, WIDTH_CM, styled
from copycost.figures.tables import COLUMNS, Drawn, Tables, counted, left_out, spread
from copycost.figures.text import LABEL_PT, NOTE_PT, empty_figure, size_label, text_width_cm, wrap
from copycost.figures.tips import add_tips, point_tips
from copycost.wording.percent import NBSP

_TICKS = (1.05, 1.1, 1.25, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_LEAST_REACH = 1.25
_NAMES_WIDE = 4
_ROW_CM = 0.6
_TWO_LINES_CM = 0.72
_PANELS_CM = 19.0
_PALE = 0.88
_SCALE_CM = 0.3
_SCALE_LABEL_CM = 0.9
_Rgb: TypeAlias = tuple[float, float, float]
_SAME = "no difference seen"


@styled
def draw(tables: Tables) -> Drawn:
    """Draw the ratio of each implementation's throughput to that of two_copy as coloured cells.

    The colours are centred on 1 and logarithmic, so that half and twice are equally strong. Every
    cell holds its number: brackets where the interval holds 1, hatching where nothing was measured.
    With a single thread count, all implementations are the rows of one map.
    """
    data = _ratios(tables)
    if data.empty:
        sentence = f"Nothing to compare on {tables.condition}: this takes {BASELINE} and another."
        return Drawn(empty_figure(sentence), data)
    if data["value"].isna().all():
        return Drawn(empty_figure(f"No measured cells on {tables.condition}."), data)
    every = data["n_threads"]
    one_map = every.nunique() == 1
    counts = spread(every, _rows_most(data["implementation"].nunique()))
    data = data[every.isin(counts)].reset_index(drop=True)
    sizes = sorted(data["msg_bytes"].unique())
    sheet = _map_of_all(tables, data) if one_map else _maps(data)
    colours = _colours(data["value"])
    inside_cm = sheet.panel_width_cm - (_names_cm(tables, data) if one_map else 0.0)
    for panel in sheet.panels():
        rows = "implementation" if one_map else "n_threads"
        roomy = inside_cm / len(sizes) > 1.7
        _draw_map(panel.axes, panel.data, rows, sizes, colours, roomy=roomy)
        _label_every(panel.axes, sizes, inside_cm)
        if one_map:
            panel.axes.set_title(f"throughput / {BASELINE}, {counted(counts[0], 'thread')}")
            panel.axes.set_yticklabels(_named(tables, panel.data), fontsize=NOTE_PT)
            sheet.label(panel.place, "message size", "")
        else:
            name = str(panel.data["implementation"].iloc[0])
            said = f" ({tables.labels[name]})" if name in tables.labels else ""
            title = wrap(f"{name}{said} / {BASELINE}", sheet.panel_width_cm, LABEL_PT)
            panel.axes.set_title("\n".join(title))
            sheet.label(panel.place, "message size", "threads")
    _draw_scale(sheet, colours, 0.58 * inside_cm if one_map else 0.7 * WIDTH_CM)
    note = [*_note(data), left_out(every, counts, "threads")]
    return Drawn(finish(sheet, data, None, note, extra_cm=1.35), data)


def _rows_most(n_names: int) -> int:
    """Return how many thread counts have room in the map of each implementation."""
    n_rows = n_names if n_names <= _NAMES_WIDE else -(-n_names // 2)
    return max(1, int((_PANELS_CM / n_rows - 1.4) / _ROW_CM))


def _map_of_all(tables: Tables, data: pd.DataFrame) -> Sheet:
    names = _named(tables, data)
    row_cm = _TWO_LINES_CM if any("\n" in name for name in names) else _ROW_CM
    return new_sheet(data, row_cm * max(2, len(names)) + 1.0, column="n_threads")


def _maps(data: pd.DataFrame) -> Sheet:
    n_columns = 1 if data["implementation"].nunique() <= _NAMES_WIDE else 2
    row_cm = _ROW_CM * data["n_threads"].nunique() + (1.0 if n_columns == 1 else 1.4)
    return new_sheet(data, row_cm, column="implementation", n_columns=n_columns)


def _named(tables: Tables, data: pd.DataFrame) -> list[str]:
    """Return the names of the rows of the one map, with what the kernel made of them."""
    return [
        "\n".join([name, *([tables.labels[name]] if name in tables.labels else [])])
        for name in data["implementation"].unique()
    ]


def _names_cm(tables: Tables, data: pd.DataFrame) -> float:
    lines = [line for name in _named(tables, data) for line in name.split("\n")]
    return max(text_width_cm(line, NOTE_PT) for line in lines)


def _ratios(tables: Tables) -> pd.DataFrame:
    """Return one row per cell and implementation: `COLUMNS` and the verdict."""
    table = tables.ratios
    rows = table[(table["metric"] == THROUGHPUT) & (table["baseline"] == BASELINE)]
    summary = tables.summary[tables.summary["metric"] == THROUGHPUT]
    key = ["implementation", "msg_bytes", "n_threads"]
    # Inner: a pair of which one cannot exist at a size has no cell there, so nothing is missing.
    rows = rows.merge(summary[[*key, "n", "n_failed", "n_skipped"]], on=key)
    rows["condition"] = tables.condition
    rows["quantity"], rows["unit"] = f"throughput ratio to {BASELINE}", "1"
    rows["value"] = rows["ratio"]
    rows["state"] = [
        "measured" if pairs else "no baseline" if n else "failed" if failed else "skipped"
        for pairs, n, failed in zip(rows["n_pairs"], rows["n"], rows["n_failed"], strict=True)
    ]
    rows["n"] = rows["n_pairs"]
    rows["order"] = [tables.implementations.index(name) for name in rows["implementation"]]
    rows = rows.sort_values(["order", "n_threads", "msg_bytes"], kind="stable")
    rows[["lower_mode", "upper_mode"]] = np.nan  # of throughputs, not of ratios
    return rows[[*COLUMNS, "verdict"]].reset_index(drop=True)


@dataclass(frozen=True, slots=True)
class _Colours:
    """Red below a ratio of 1, blue above, as far on one side as on the other."""

    norm: LogNorm
    table: LinearSegmentedColormap

    def frame_of(self, ratio: float) -> _Rgb:
        """Return a ratio's colour, or grey where that would vanish on white paper."""
        red, green, blue, _ = self.table(float(self.norm(ratio)))
        return (red, green, blue) if min(red, green, blue) < _PALE else to_rgb(EDGE)


def _colours(ratios: pd.Series) -> _Colours:
    known = ratios.dropna()
    reach = max(float(known.max()), 1 / float(known.min()), _LEAST_REACH)
    # Without the darkest ends, whose red and blue look alike in print without colour.
    shades = [mpl.colormaps["RdBu"](0.1 + 0.8 * step / 255) for step in range(256)]
    return _Colours(LogNorm(1 / reach, reach), LinearSegmentedColormap.from_list("ratio", shades))


def _draw_map(
    axes: Axes,
    data: pd.DataFrame,
    rows: str,
    sizes: Sequence[int],
    colours: _Colours,
    *,
    roomy: bool,
) -> None:
    """Draw all cells of one map; `roomy` cells have space for the word why they are empty.

    Every map has a column for each of `sizes`, though one way may have been measured at more of
    them than another: the maps share their axis.
    """
    by_thread = rows == "n_threads"
    order = sorted(data[rows].unique()) if by_thread else list(data[rows].unique())
    ratios, verdicts, states = (
        data.pivot(index=rows, columns="msg_bytes", values=name).reindex(
            index=order, columns=list(sizes)
        )
        for name in ("value", "verdict", "state")
    )
    plain = ratios.notna() & (verdicts != _SAME)
    sns.heatmap(
        ratios, annot=ratios.map(_short) + verdicts.map(_star), fmt="", mask=~plain.to_numpy(),
        norm=colours.norm, vmin=colours.norm.vmin, vmax=colours.norm.vmax, cmap=colours.table,
        cbar=False, linewidths=2, linecolor="white",
        xticklabels=False, yticklabels=False, annot_kws={"va": "center_baseline"}, ax=axes,
    )  # fmt: skip
    _add_tips(axes, data, list(sizes), list(ratios.index), rows)
    values, words = ratios.to_numpy(dtype=np.float64), states.to_numpy(dtype=object)
    for row, column in np.argwhere(~plain.to_numpy()):
        ratio = float(values[row, column])
        if pd.isna(words[row, column]):
            continue  # no such cell
        if np.isnan(ratio):
            _draw_hole(axes, (column, row), str(words[row, column]) if roomy else "")
        else:
            _draw_frame(axes, (column, row), f"({_short(ratio)})", colours.frame_of(ratio))
    if by_thread:
        # Thread counts grow upwards, as on any axis; names are read from the top.
        axes.invert_yaxis()
    else:
        axes.tick_params(axis="y", labelsize=NOTE_PT)
    axes.set_yticks(
        [row + 0.5 for row in range(len(ratios))], [str(n) for n in ratios.index], rotation=0
    )
    axes.tick_params(length=0)


def _add_tips(
    axes: Axes, data: pd.DataFrame, sizes: list[int], names: list[object], rows: str
) -> None:
    across = [sizes.index(size) + 0.5 for size in data["msg_bytes"]]
    down = [names.index(name) + 0.5 for name in data[rows]]
    add_tips(axes, across, down, point_tips(data))


def _draw_frame(axes: Axes, place: tuple[int, int], text: str, colour: _Rgb) -> None:
    """Draw a frame, not a full cell: the eye shall not take it for an established difference."""
    column, row = place
    frame = Rectangle((column + 0.03, row + 0.08), 0.94, 0.84, facecolor="white", lw=2.2)
    frame.set_edgecolor(colour)
    axes.add_patch(frame)
    axes.text(column + 0.5, row + 0.5, text, ha="center", va="center_baseline", color=INK)


def _draw_hole(axes: Axes, place: tuple[int, int], state: str) -> None:
    column, row = place
    hole = Rectangle((column + 0.02, row + 0.04), 0.96, 0.92, facecolor="white", lw=0.3)
    hole.set(edgecolor=QUIET, hatch="////")
    axes.add_patch(hole)
    if state:
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
        where = column + 0.5, row + 0.5
        axes.text(*where, state, ha="center", va="center_baseline", fontsize=7, bbox=box)


def _star(verdict: str) -> str:
    return "*" if verdict == "observed once" else ""


def _short(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def _label_every(axes: Axes, sizes: Sequence[int], width_cm: float) -> None:
    """Label the columns, every other one or fewer where they are narrow."""
    step = -(-len(sizes) * 1.45 // width_cm)
    axes.set_xticks(
        [place + 0.5 for place in range(len(sizes))],
        ["" if place % step else size_label(size) for place, size in enumerate(sizes)],
    )


def _draw_scale(sheet: Sheet, colours: _Colours, width_cm: float) -> None:
    """Draw the scale of the colours, about `width_cm` wide."""
    reach = float(colours.norm.vmax or _LEAST_REACH)
    steps = [tick for tick in _TICKS if tick <= reach * 1.001]
    # Few enough for their labels; a step towards 1 and one away from it are equally long.
    least = 2 * _SCALE_LABEL_CM / width_cm * math.log(reach)
    kept = [1.0]
    for tick in steps:
        if math.log(tick / kept[-1]) > least:
            kept.append(tick)
    ticks = [*(1 / tick for tick in reversed(kept[1:])), *kept]
    n_rows = -(-len(sheet.contents) // sheet.n_columns)
    bar = sheet.figure.colorbar(
        ScalarMappable(colours.norm, colours.table),
        ax=[panel.axes for panel in sheet.contents],
        location="bottom",
        # As thick for one row as for many.
        fraction=min(0.5, _SCALE_CM / (n_rows * sheet.panel_height_cm)),
        aspect=0.7 * WIDTH_CM / _SCALE_CM,
        label=f"throughput ratio to {BASELINE}, logarithmic colours",
    )
    bar.ax.xaxis.set_major_locator(FixedLocator(ticks))
    bar.ax.xaxis.set_minor_locator(NullLocator())
    bar.ax.xaxis.set_major_formatter(
        FuncFormatter(lambda tick, _: f"{round(tick, 2) if tick > 0.1 else tick:.3g}")
    )
    bar.outline.set_visible(False)


def _note(data: pd.DataFrame) -> list[str]:
    verdicts = set(data["verdict"])
    n_pairs = data.loc[data["n"] > 0, "n"]
    few = "" if n_pairs.min() == n_pairs.max() else "up to "
    return [
        f"Ratios paired over {few}{n_pairs.max()} rounds." if n_pairs.max() > 1 else "",
        "Blue: more throughput, red: less.",
        f"Frame and (…): no difference seen, the interval holds{NBSP}1."
        if _SAME in verdicts
        else "",
        "*: observed once, no interval." if "observed once" in verdicts else "",
        "Hatched: not measured." if "not measured" in verdicts else "",
    ]
