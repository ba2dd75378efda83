"""Figures of this host over published runs: throughput and cost per byte."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import THROUGHPUT
from copycost.audit.published import PUBLISHED_COST, Published, known_medians, matching_condition
from copycost.figures.axes import scale_of, size_axis, value_axis
from copycost.figures.markers import WayStyle, in_order, way_styles
from copycost.figures.style import CM, WIDTH_CM, styled
from copycost.figures.tables import Drawn, counted
from copycost.figures.text import empty_figure
from copycost.figures.tips import add_tips, point_tips

_COLUMNS_MOST = 4
_ROW_CM = 4.0
_HERE, _THERE = "this host", "published"
_COLUMNS = ["run", "where", "testbed", "implementation", "msg_bytes", "n_threads", "quantity",
            "unit", "value", "low", "high"]  # fmt: skip


@styled
def draw_throughput(facts: Facts, summary: pd.DataFrame, runs: Sequence[Published]) -> Drawn:
    """Draw throughput against size: a row per published run, a column per thread count of it."""
    if not facts["measured_conditions"]:
        return _nothing()
    data = pd.concat([_points(facts, summary, run) for run in runs], ignore_index=True)
    rows = [(run, _thread_counts(data[data["run"] == run.name])) for run in runs]
    rows = [(run, counts) for run, counts in rows if counts]
    if not rows:
        return Drawn(empty_figure("No cell of this run is in a published one."), data)
    n_columns = max(len(counts) for _, counts in rows)
    figure = _sheet(len(rows))
    grid = figure.subplots(len(rows), n_columns, squeeze=False, sharey="row")
    styles = way_styles(data["implementation"])
    width_cm = WIDTH_CM / n_columns - 1.4
    for (run, counts), panels in zip(rows, grid, strict=True):
        mine = data[data["run"] == run.name]
        mine = mine[mine["n_threads"].isin(counts)]
        scale = scale_of(mine)
        for axes in panels[len(counts) :]:
            axes.set_visible(False)
        for n_threads, axes in zip(counts, panels, strict=False):
            _draw_panel(axes, mine[mine["n_threads"] == n_threads], styles)
            value_axis(axes, scale)
            size_axis(axes, mine["msg_bytes"], width_cm)
            axes.set_title(counted(int(n_threads), "thread"))
            axes.set_xlabel("message size")
        panels[0].set_ylabel(f"{run.source['title']}\nthroughput [Gbit/s]")
    _legend(figure, styles)
    return Drawn(figure, data)


@styled
def draw_costs(facts: Facts, summary: pd.DataFrame, runs: Sequence[Published]) -> Drawn:
    """Draw what a byte costs: each published run that tells, and this host beside it."""
    if not facts["measured_conditions"]:
        return _nothing()
    shown = [run for run in runs if not run.medians(PUBLISHED_COST).empty]
    unit = f"{facts['cost']['unit']}/B"
    parts = []
    for run in shown:
        there = _rows(run.medians(PUBLISHED_COST), run, _THERE, run.name, "cost per byte",
                      "cycles/B", 1.0)  # fmt: skip
        testbed = matching_condition(facts, run)
        mine = known_medians(
            summary[summary["condition"] == testbed], facts["conditions"][testbed]["cost_column"]
        )
        mine = mine[mine["n_threads"].isin(there["n_threads"])]
        here = _rows(mine, run, _HERE, testbed, "cost per byte", unit, 1.0)
        parts += [there, here]
    data = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=_COLUMNS)
    if data.empty:
        return Drawn(empty_figure("No published run tells what a byte costs."), data)
    figure = _sheet(len(shown))
    grid = figure.subplots(len(shown), 2, squeeze=False)
    styles = way_styles(data["implementation"])
    for run, panels in zip(shown, grid, strict=True):
        mine = data[data["run"] == run.name]
        for where, axes in zip((_THERE, _HERE), panels, strict=True):
            part = mine[mine["where"] == where]
            if part.empty:
                axes.set_axis_off()
                axes.set_title("this host: not measured")
                continue
            # One thread count is shown, the one that the published run has most cells of.
            n_threads = int(mine[mine["where"] == _THERE]["n_threads"].mode().iloc[0])
            part = part[part["n_threads"] == n_threads]
            _draw_panel(axes, part, styles)
            value_axis(axes, scale_of(part))
            size_axis(axes, mine["msg_bytes"], WIDTH_CM / 2 - 1.6)
            title = run.source["title"] if where == _THERE else _HERE
            axes.set_title(f"{title}, {counted(n_threads, 'thread')}")
            axes.set_xlabel("message size")
            axes.set_ylabel(f"cost per byte [{part['unit'].iloc[0]}]" if len(part) else "")
    _legend(figure, styles)
    return Drawn(figure, data)


def _sheet(n_rows: int) -> Figure:
    """Return an empty figure for so many rows of panels."""
    height_cm = _ROW_CM * n_rows + 1.2
    return Figure(figsize=(WIDTH_CM * CM, height_cm * CM), layout="constrained")


def _nothing() -> Drawn:
    return Drawn(empty_figure("Nothing was measured on this host."), pd.DataFrame(columns=_COLUMNS))


def _points(facts: Facts, summary: pd.DataFrame, run: Published) -> pd.DataFrame:
    testbed = matching_condition(facts, run)
    mine = known_medians(summary[summary["condition"] == testbed], THROUGHPUT)
    theirs = run.medians(THROUGHPUT)
    mine = mine[mine["n_threads"].isin(theirs["n_threads"])]
    return pd.concat(
        [
            _rows(theirs, run, _THERE, run.name, "throughput", "Gbit/s", 1e-9),
            _rows(mine, run, _HERE, testbed, "throughput", "Gbit/s", 1e-9),
        ],
        ignore_index=True,
    )


def _rows(
    medians: pd.DataFrame,
    run: Published,
    where: str,
    testbed: str,
    quantity: str,
    unit: str,
    factor: float,
) -> pd.DataFrame:
    rows = medians[["implementation", "msg_bytes", "n_threads"]].copy()
    rows[["run", "where", "testbed", "quantity", "unit"]] = [
        run.name, where, testbed, quantity, unit,
    ]  # fmt: skip
    for name, column in (("value", "median"), ("low", "low"), ("high", "high")):
        rows[name] = medians[column] * factor
    return rows[_COLUMNS]


def _thread_counts(data: pd.DataFrame) -> list[int]:
    """Return the thread counts that the published run has, the fullest few of them."""
    cells = data[data["where"] == _THERE]["n_threads"].value_counts()
    return sorted(int(count) for count in cells.index[:_COLUMNS_MOST])


def _draw_panel(axes: Axes, data: pd.DataFrame, styles: dict[str, WayStyle]) -> None:
    for name in in_order(data["implementation"]):
        look = styles[name]
        for where in (_THERE, _HERE):
            rows = data[(data["implementation"] == name) & (data["where"] == where)]
            rows = rows.sort_values("msg_bytes")
            if rows.empty:
                continue
            drawn = look.as_line()
            if where == _THERE:
                drawn |= look.as_hole() | {"linestyle": ":", "linewidth": 1.0}
            axes.plot(rows["msg_bytes"], rows["value"], **drawn)
            tips = [f"{where}: {tip}" for tip in point_tips(rows)]
            add_tips(axes, rows["msg_bytes"], rows["value"], tips)
            known = rows.dropna(subset=["low", "high"])
            axes.vlines(known["msg_bytes"], known["low"], known["high"], color=look.colour,
                        linewidth=0.9)  # fmt: skip


def _legend(figure: Figure, styles: dict[str, WayStyle]) -> None:
    handles = [Line2D([], [], label=name, **look.as_line()) for name, look in styles.items()]
    grey = WayStyle("#5f5f5f", "o", "-")
    handles.append(Line2D([], [], label=_HERE, **grey.as_line()))
    hollow = grey.as_line() | grey.as_hole() | {"linestyle": ":", "linewidth": 1.0}
    handles.append(Line2D([], [], label=_THERE, **hollow))
    figure.legend(handles=handles, loc="outside upper left", ncols=len(handles))
