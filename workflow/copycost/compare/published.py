"""Own measurements beside published runs: the facts of the chapter, its figures, and a report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from matplotlib.axes import Axes

from copycost.analysis.columns import read_table
from copycost.analysis.json_values import Facts, plain
from copycost.analysis.metrics import THROUGHPUT
from copycost.audit.dataset_analysis import DatasetAnalysis, analyse_dataset
from copycost.audit.mapping import FileMapping, load_yaml
from copycost.audit.reader import read_dataset
from copycost.audit.report import typeset
from copycost.errors import DataError
from copycost.figures.axes import scale_of, size_axis, value_axis
from copycost.figures.layout import finish, new_sheet
from copycost.figures.markers import WayStyle, in_order, way_styles
from copycost.figures.output import save
from copycost.figures.style import styled
from copycost.figures.tables import Drawn, Legend, counted
from copycost.figures.text import empty_figure
from copycost.figures.tips import add_tips, point_tips
from copycost.records.files import read_json, write_json
from copycost.report.render import Format

SCHEMA_VERSION = 1
_CELL = ["implementation", "msg_bytes", "n_threads"]
_PAIRS = ("one_copy_vs_two_copy", "zero_copy_vs_two_copy")
PUBLISHED_COST = "both_cycles_per_byte"
_COLUMNS_MOST = 4
_ROW_CM = 4.4
_HERE, _THERE = "this host", "published"
_NOTHING = "Nothing was measured on this host."
_COLUMNS = ["run", "where", "testbed", *_CELL, "quantity", "unit", "value", "low", "high"]


@dataclass(frozen=True)
class Published:
    """A published run, analysed as a run of our own.

    `source`: its part of sources.yaml. `analysed`: its tables and facts.
    """

    source: Mapping[str, Any]
    analysed: DatasetAnalysis


def read_published(folder: Path) -> list[Published]:
    """Read the published runs that have the cells of a table."""
    runs = []
    for source in load_yaml(folder / "sources.yaml")["runs"]:
        path = folder / f"{source['name']}.csv"
        if not path.is_file():
            raise DataError(f"{path}: not found, though sources.yaml describes it; restore it")
        runs.append(Published(source, analyse_dataset(read_dataset(path, FileMapping()))))
    return runs


def points_beside(facts: Facts, summary: pd.DataFrame, runs: Sequence[Published]) -> pd.DataFrame:
    """Return the medians of published runs, and of this host for the thread counts that they have.

    Each run stands beside the condition of this host that resembles its path most.
    """
    parts = [pd.DataFrame(columns=_COLUMNS)]
    for run in runs if facts["measured_conditions"] else ():
        name, condition = run.source["name"], matching_condition(facts, run)
        cost = facts["conditions"][condition]["cost_column"]
        mine = summary[summary["condition"] == condition]
        cost_unit = f"{facts['cost']['unit']}/B"
        for quantity, scale, theirs, ours, units in (
            ("throughput", 1e-9, THROUGHPUT, THROUGHPUT, ("Gbit/s", "Gbit/s")),
            ("cost per byte", 1.0, PUBLISHED_COST, cost, ("cycles/B", cost_unit)),
        ):
            there, here = (
                rows[(rows["metric"] == metric) & (rows["n"] > 0)]
                for rows, metric in ((run.analysed.summary, theirs), (mine, ours))
            )
            here = here[here["n_threads"].isin(there["n_threads"])]
            for rows, where, testbed, unit in (
                (there, _THERE, name, units[0]), (here, _HERE, condition, units[1])
            ):  # fmt: skip
                points = rows[_CELL].assign(
                    run=name, where=where, testbed=testbed, quantity=quantity, unit=unit,
                    value=rows["median"] * scale, low=rows["low"] * scale,
                    high=rows["high"] * scale,
                )  # fmt: skip
                parts += [points[_COLUMNS]] if len(points) else []
    return pd.concat(parts[1:] or parts, ignore_index=True)


def comparison_facts(facts: Facts, points: pd.DataFrame, runs: Sequence[Published]) -> Facts:
    """Return what the chapter says, as plain data, of the points of `points_beside`."""
    measured = bool(facts["measured_conditions"])
    result: Facts = plain(
        {
            "schema_version": SCHEMA_VERSION,
            "measured": measured,
            "cost": facts["cost"],
            "grid": facts["grid"],
            "repetitions": facts["run"]["rounds_max"],
            "duration_s": facts["method"]["duration_s"],
            "runs": [_run_facts(facts, points, run) for run in runs] if measured else [],
        }
    )
    return result


def matching_condition(facts: Facts, run: Published) -> str:
    """Return the condition of this host to show beside a run: its own kind, else the first."""
    measured: list[str] = facts["measured_conditions"]
    wanted = str(run.source["testbed"])
    return wanted if wanted in measured else measured[0]


def _run_facts(facts: Facts, points: pd.DataFrame, run: Published) -> Facts:
    name, condition = run.source["name"], matching_condition(facts, run)
    theirs = run.analysed.facts["conditions"][name]["crossovers"]
    ours = facts["conditions"][condition]["crossovers"]
    throughput, cost = (
        points[(points["run"] == name) & (points["quantity"] == quantity)]
        .pivot(index=_CELL, columns="where", values="value")
        .reindex(columns=[_THERE, _HERE])
        .rename(columns={_THERE: "theirs", _HERE: "ours"})
        for quantity in ("throughput", "cost per byte")
    )
    # this host's throughput over the run's, in the cells that both have
    ratios = (throughput["ours"] / throughput["theirs"]).dropna()
    of_each = ratios.groupby("implementation", sort=True).agg(
        n_cells="size", low="min", median="median", high="max"
    )
    cost = cost[cost["theirs"].notna()].reset_index()
    return {
        **{key: run.source[key] for key in ("name", "title", "system", "method", "differences")},
        "testbed": condition,
        "same_path": condition == run.source["testbed"],
        "ratios": of_each.reset_index().to_dict("records"),
        "crossovers": [
            {name: theirs[pair][name] for name in ("implementation", "baseline")}
            | {"rows": _crossover_rows(ours[pair], theirs[pair])}
            for pair in _PAIRS
        ],
        "costs": cost.sort_values(["msg_bytes", "n_threads", "implementation"]).to_dict("records"),
    }


def _crossover_rows(ours: Facts, theirs: Facts) -> list[Facts]:
    """Return what both say along the sizes, for the thread counts that both have."""
    mine = {row["n_threads"]: row for row in ours["by_threads"]}
    return [
        {"n_threads": row["n_threads"], "ours": mine[row["n_threads"]], "theirs": row}
        for row in theirs["by_threads"]
        if row["n_threads"] in mine and row["outcome"] != "not_measured"
    ]


@styled
def draw_throughput(points: pd.DataFrame, titles: Mapping[str, str]) -> Drawn:
    """Draw throughput against size: a row per published run, a column per thread count of it."""
    data = points[points["quantity"] == "throughput"]
    parts = []
    for name, of in data.groupby("run", sort=False):
        # The fullest few of the thread counts that the published run has.
        cells = of[of["where"] == _THERE]["n_threads"].value_counts()
        column = {n: place for place, n in enumerate(sorted(cells.index[:_COLUMNS_MOST]))}
        parts.append(of.assign(
            column=of["n_threads"].map(column),
            title=[counted(n, "thread") for n in of["n_threads"]],
            label=f"{titles[str(name)]}\nthroughput [Gbit/s]",
        ))  # fmt: skip
    return _drawn(parts, _NOTHING, share_y="row")


@styled
def draw_costs(points: pd.DataFrame, titles: Mapping[str, str]) -> Drawn:
    """Draw what a byte costs: each published run that tells, and this host beside it.

    One thread count is shown, the one that the published run has most cells of.
    """
    data = points[points["quantity"] == "cost per byte"]
    parts = []
    for name, of in data.groupby("run", sort=False):
        there = of["where"] == _THERE
        n_threads = int(of[there]["n_threads"].mode().iloc[0])
        title = there.map({True: titles[str(name)], False: _HERE})
        parts.append(of.assign(
            column=there.map({True: 0, False: 1}).where(of["n_threads"] == n_threads),
            title=title + f", {counted(n_threads, 'thread')}",
            label="cost per byte [" + of["unit"] + "]",
        ))  # fmt: skip
    otherwise = _NOTHING if points.empty else "No published run tells what a byte costs."
    return _drawn(parts, otherwise, share_y=False)


def _drawn(parts: Sequence[pd.DataFrame], otherwise: str, share_y: Literal["row", False]) -> Drawn:
    """Draw points in the panel of their run and `column`; those without a column are not shown."""
    if not parts:
        return Drawn(empty_figure(otherwise), pd.DataFrame(columns=_COLUMNS))
    data = pd.concat(parts, ignore_index=True)
    shown = data[data["column"].notna()]
    sheet = new_sheet(shown, _ROW_CM, column="column", row="run", share_y=share_y)
    styles = way_styles(shown["implementation"])
    for panel in sheet.contents:
        panel.axes.set_visible(len(panel.data) > 0)
    for panel in sheet.panels():
        together = shown[shown["run"] == panel.data["run"].iloc[0]]
        _draw_panel(panel.axes, panel.data, styles)
        value_axis(panel.axes, scale_of(together if share_y else panel.data))
        size_axis(panel.axes, together["msg_bytes"], sheet.panel_width_cm)
        said = panel.data.iloc[0]
        first = panel.place % sheet.n_columns == 0
        panel.axes.set(title=said["title"], xlabel="message size",
                       ylabel=said["label"] if first or not share_y else "")  # fmt: skip
    names = tuple(in_order(shown["implementation"]))
    return Drawn(finish(sheet, shown, Legend(names, {}), []), data[_COLUMNS])


def _draw_panel(axes: Axes, data: pd.DataFrame, styles: Mapping[str, WayStyle]) -> None:
    for name, where in product(in_order(data["implementation"]), (_THERE, _HERE)):
        rows = data[(data["implementation"] == name) & (data["where"] == where)]
        rows = rows.sort_values("msg_bytes")
        drawn = styles[name].as_line()
        if where == _THERE:
            drawn |= styles[name].as_hole() | {"linestyle": ":", "linewidth": 1.0}
        axes.plot(rows["msg_bytes"], rows["value"], **drawn)
        tips = [f"{where}: {tip}" for tip in point_tips(rows)]
        add_tips(axes, rows["msg_bytes"], rows["value"], tips)
        known = rows.dropna(subset=["low", "high"])
        axes.vlines(known["msg_bytes"], known["low"], known["high"], linewidth=0.9,
                    color=styles[name].colour)  # fmt: skip


FIGURES = {"throughput": "published_throughput", "cost_per_byte": "published_cost"}
"""Files of the figures, and what the template calls them."""


def compare_published(facts: Path, summary: Path, published: Path, folder: Path) -> Facts:
    """Write ``beside.json`` and the figures, as SVG with their CSV; return the facts.

    `facts`, `summary`: results/facts.json and results/tables/summary.csv of this host.
    """
    ours = read_json(facts)
    runs = read_published(published)
    points = points_beside(ours, read_table(summary), runs)
    titles = {run.source["name"]: run.source["title"] for run in runs}
    beside = comparison_facts(ours, points, runs)
    folder.mkdir(parents=True, exist_ok=True)
    shown: list[str] = []
    for name, draw in (("throughput", draw_throughput), ("cost_per_byte", draw_costs)):
        drawn = draw(points, titles)
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
