"""Own measurements beside published runs: the facts of the chapter, its figures, and a report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from copycost.analysis.columns import read_table
from copycost.analysis.json_values import Facts, plain
from copycost.analysis.metrics import THROUGHPUT
from copycost.audit.dataset_analysis import DatasetAnalysis, analyse_dataset
from copycost.audit.mapping import FileMapping, load_yaml
from copycost.audit.reader import read_dataset
from copycost.audit.report import typeset
from copycost.errors import DataError
from copycost.figures.axes import scale_of, size_axis, value_axis
from copycost.figures.markers import WayStyle, in_order, way_styles
from copycost.figures.output import save
from copycost.figures.style import CM, WIDTH_CM, styled
from copycost.figures.tables import Drawn, counted
from copycost.figures.text import empty_figure
from copycost.figures.tips import add_tips, point_tips
from copycost.records.files import read_json, write_json
from copycost.report.render import Format

SCHEMA_VERSION = 1
_CELL = ["implementation", "msg_bytes", "n_threads"]
_PAIRS = ("one_copy_vs_two_copy", "zero_copy_vs_two_copy")
PUBLISHED_COST = "both_cycles_per_byte"


@dataclass(frozen=True)
class Published:
    """A published run, analysed as a run of our own.

    `source`: its part of sources.yaml. `analysed`: its tables and facts.
    """

    source: Mapping[str, Any]
    analysed: DatasetAnalysis

    @property
    def name(self) -> str:
        """Return the run's name."""
        return str(self.source["name"])

    def medians(self, metric: str) -> pd.DataFrame:
        """Return the cells that have a value of a metric."""
        return known_medians(self.analysed.summary, metric)


def known_medians(summary: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the rows of a summary that have a value of a metric."""
    return summary[(summary["metric"] == metric) & (summary["n"] > 0)]


def read_published(folder: Path) -> list[Published]:
    """Read the published runs that have the cells of a table."""
    runs = []
    for source in load_yaml(folder / "sources.yaml")["runs"]:
        path = folder / f"{source['name']}.csv"
        if not path.is_file():
            raise DataError(f"{path}: not found, though sources.yaml describes it; restore it")
        runs.append(Published(source, analyse_dataset(read_dataset(path, FileMapping()))))
    return runs


def comparison_facts(facts: Facts, summary: pd.DataFrame, runs: Sequence[Published]) -> Facts:
    """Return what the chapter says, as plain data.

    Each published run stands beside the condition of this host that resembles its path most.
    """
    measured = list(facts["measured_conditions"])
    result: Facts = plain(
        {
            "schema_version": SCHEMA_VERSION,
            "measured": bool(measured),
            "cost": facts["cost"],
            "grid": facts["grid"],
            "repetitions": facts["run"]["rounds_max"],
            "duration_s": facts["method"]["duration_s"],
            "runs": [_run_facts(facts, summary, run) for run in runs] if measured else [],
        }
    )
    return result


def matching_condition(facts: Facts, run: Published) -> str:
    """Return the condition of this host to show beside a run: its own kind, else the first."""
    measured: list[str] = facts["measured_conditions"]
    wanted = str(run.source["testbed"])
    return wanted if wanted in measured else measured[0]


def _run_facts(facts: Facts, summary: pd.DataFrame, run: Published) -> Facts:
    condition = matching_condition(facts, run)
    mine = summary[summary["condition"] == condition]
    theirs = run.analysed.facts["conditions"][run.name]
    ours = facts["conditions"][condition]
    return {
        **{key: run.source[key] for key in ("name", "title", "system", "method", "differences")},
        "testbed": condition,
        "same_path": condition == run.source["testbed"],
        "ratios": _ratios(mine, run),
        "sizes": run.analysed.facts["grid"]["msg_bytes"],
        "crossovers": [
            {
                "implementation": theirs["crossovers"][pair]["implementation"],
                "baseline": theirs["crossovers"][pair]["baseline"],
                "rows": _crossover_rows(ours["crossovers"][pair], theirs["crossovers"][pair]),
            }
            for pair in _PAIRS
        ],
        "has_cost": not run.medians(PUBLISHED_COST).empty,
        "same_cost_unit": facts["cost"]["column"] == PUBLISHED_COST,
        "costs": _costs(mine, run, ours["cost_column"]),
    }


def _ratios(mine: pd.DataFrame, run: Published) -> list[Facts]:
    """Return this host's throughput over the run's, in the cells that both have."""
    both = known_medians(mine, THROUGHPUT).merge(
        run.medians(THROUGHPUT), on=_CELL, suffixes=("", "_theirs")
    )
    both["ratio"] = both["median"] / both["median_theirs"]
    found = both.groupby("implementation", sort=True)["ratio"].agg(
        n_cells="size", low="min", median="median", high="max"
    )
    rows: list[Facts] = plain(found.reset_index().to_dict("records"))
    return rows


def _crossover_rows(ours: Facts, theirs: Facts) -> list[Facts]:
    """Return what both say along the sizes, for the thread counts that both have."""
    mine = {row["n_threads"]: row for row in ours["by_threads"]}
    return [
        {"n_threads": row["n_threads"], "ours": mine[row["n_threads"]], "theirs": row}
        for row in theirs["by_threads"]
        if row["n_threads"] in mine and row["outcome"] != "not_measured"
    ]


def _costs(mine: pd.DataFrame, run: Published, column: str) -> list[Facts]:
    """Return what a byte costs here and there, in the cells that both have."""
    both = run.medians(PUBLISHED_COST).merge(
        known_medians(mine, column), on=_CELL, suffixes=("_theirs", ""), how="left"
    )
    both = both.sort_values(["msg_bytes", "n_threads", "implementation"])
    rows = []
    for row in both.to_dict("records"):
        ours = None if np.isnan(row["median"]) else row["median"]
        told = {"theirs": row["median_theirs"], "ours": ours}
        rows.append({key: row[key] for key in _CELL} | told)
    return rows


_COLUMNS_MOST = 4
_ROW_CM = 4.0
_HERE, _THERE = "this host", "published"
_NOTHING = "Nothing was measured on this host."
_COLUMNS = ["run", "where", "testbed", *_CELL, "quantity", "unit", "value", "low", "high"]


@dataclass(frozen=True)
class _Panel:
    """Points of one published run and of this host, if there are any, and what the panel says."""

    points: pd.DataFrame
    title: str
    label: str


@styled
def draw_throughput(facts: Facts, summary: pd.DataFrame, runs: Sequence[Published]) -> Drawn:
    """Draw throughput against size: a row per published run, a column per thread count of it."""
    units = ("Gbit/s", "Gbit/s")
    data, rows = [], []
    for run in runs if facts["measured_conditions"] else ():
        points = _points(facts, summary, run, (THROUGHPUT, THROUGHPUT), units)
        data.append(points)
        # The fullest few of the thread counts that the published run has.
        cells = points[points["where"] == _THERE]["n_threads"].value_counts()
        counts = sorted(int(count) for count in cells.index[:_COLUMNS_MOST])
        labels = [f"{run.source['title']}\nthroughput [Gbit/s]"] + [""] * len(counts)
        panels = [
            _Panel(points[points["n_threads"] == n], counted(n, "thread"), label)
            for n, label in zip(counts, labels, strict=False)
        ]
        rows += [panels] if panels else []
    otherwise = "No cell of this run is in a published one." if data else _NOTHING
    return _drawn(data, rows, otherwise, room_cm=1.4, share=True)


@styled
def draw_costs(facts: Facts, summary: pd.DataFrame, runs: Sequence[Published]) -> Drawn:
    """Draw what a byte costs: each published run that tells, and this host beside it."""
    units = ("cycles/B", f"{facts['cost']['unit']}/B")
    data, rows = [], []
    for run in runs if facts["measured_conditions"] else ():
        if run.medians(PUBLISHED_COST).empty:
            continue
        column = facts["conditions"][matching_condition(facts, run)]["cost_column"]
        points = _points(facts, summary, run, (PUBLISHED_COST, column), units)
        data.append(points)
        # One thread count is shown, the one that the published run has most cells of.
        n_threads = int(points[points["where"] == _THERE]["n_threads"].mode().iloc[0])
        points = points[points["n_threads"] == n_threads]
        sides = zip((_THERE, _HERE), (run.source["title"], _HERE), units, strict=True)
        rows.append([
            _Panel(points[points["where"] == where], f"{title}, {counted(n_threads, 'thread')}",
                   f"cost per byte [{unit}]")
            for where, title, unit in sides
        ])  # fmt: skip
    measured = facts["measured_conditions"]
    otherwise = "No published run tells what a byte costs." if measured else _NOTHING
    return _drawn(data, rows, otherwise, room_cm=1.6, share=False)


def _points(
    facts: Facts,
    summary: pd.DataFrame,
    run: Published,
    metrics: tuple[str, str],
    units: tuple[str, str],
) -> pd.DataFrame:
    """Return the medians of a published run, and this host's for the thread counts that it has."""
    testbed = matching_condition(facts, run)
    there = run.medians(metrics[0])
    here = known_medians(summary[summary["condition"] == testbed], metrics[1])
    here = here[here["n_threads"].isin(there["n_threads"])]
    is_rate = metrics[0] == THROUGHPUT
    parts = []
    for medians, where, condition, unit in zip(
        (there, here), (_THERE, _HERE), (run.name, testbed), units, strict=True
    ):
        rows = medians[_CELL].assign(
            run=run.name, where=where, testbed=condition, unit=unit,
            quantity="throughput" if is_rate else "cost per byte",
        )  # fmt: skip
        for name, column in (("value", "median"), ("low", "low"), ("high", "high")):
            rows[name] = medians[column] * (1e-9 if is_rate else 1.0)
        parts.append(rows[_COLUMNS])
    return pd.concat(parts, ignore_index=True)


def _drawn(
    parts: Sequence[pd.DataFrame], rows: Sequence[Sequence[_Panel]], otherwise: str, *,
    room_cm: float, share: bool,
) -> Drawn:  # fmt: skip
    """Draw rows of panels, which may `share` their vertical axes; `room_cm` goes to the labels."""
    data = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=_COLUMNS)
    if not rows:
        return Drawn(empty_figure(otherwise), data)
    n_columns = max(map(len, rows))
    height_cm = _ROW_CM * len(rows) + 1.2
    figure = Figure(figsize=(WIDTH_CM * CM, height_cm * CM), layout="constrained")
    grid = figure.subplots(len(rows), n_columns, squeeze=False, sharey="row" if share else False)
    styles = way_styles(data["implementation"])
    for panels, row in zip(rows, grid, strict=True):
        together = pd.concat([panel.points for panel in panels])
        for axes in row[len(panels) :]:
            axes.set_visible(False)
        for panel, axes in zip(panels, row, strict=False):
            if panel.points.empty:
                axes.set_axis_off()
                axes.set_title("this host: not measured")
                continue
            _draw_panel(axes, panel.points, styles)
            value_axis(axes, scale_of(together if share else panel.points))
            size_axis(axes, together["msg_bytes"], WIDTH_CM / n_columns - room_cm)
            axes.set_title(panel.title)
            axes.set_xlabel("message size")
            axes.set_ylabel(panel.label)
    _legend(figure, styles)
    return Drawn(figure, data)


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


FIGURES = {"throughput": "published_throughput", "cost_per_byte": "published_cost"}
"""Files of the figures, and what the template calls them."""


def compare_published(facts: Path, summary: Path, published: Path, folder: Path) -> Facts:
    """Write ``beside.json`` and the figures, as SVG with their CSV; return the facts.

    `facts`, `summary`: results/facts.json and results/tables/summary.csv of this host.
    """
    ours = read_json(facts)
    table = read_table(summary)
    runs = read_published(published)
    beside = comparison_facts(ours, table, runs)
    folder.mkdir(parents=True, exist_ok=True)
    shown: list[str] = []
    for name, draw in (("throughput", draw_throughput), ("cost_per_byte", draw_costs)):
        drawn = draw(ours, table, runs)
        save(drawn, folder / f"{name}.svg")
        if len(drawn.data):
            shown.append(FIGURES[name])
    beside["figures"] = shown
    write_json(beside, folder / "beside.json")
    return beside


def render_comparison(
    beside: Path, title: str, running: str, formats: Sequence[Format]
) -> list[Path]:
    """Typeset the chapter alone, beside `beside`; return the files."""
    folder = beside.parent
    published = read_json(beside)
    figures = [folder / f"{name}.svg" for name, key in FIGURES.items()
               if key in published["figures"]]  # fmt: skip
    context = {"title": title, "subtitle": running, "running": running, "published": published}
    return typeset("published_report.qmd.j2", folder, figures, formats, **context)
