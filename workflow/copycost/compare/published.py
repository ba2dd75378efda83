"""Own measurements beside published runs: the facts of the chapter, and its figure."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from copycost.analysis.columns import read_table
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import THROUGHPUT
from copycost.compare.audit.facts import analyse_dataset
from copycost.compare.audit.mapping import FileMapping
from copycost.compare.audit.reader import read_dataset
from copycost.config.yaml_loader import read_yaml
from copycost.figures.axes import scale_of, size_axis, value_axis
from copycost.figures.layout import finish, new_sheet
from copycost.figures.markers import WayStyle, in_order, way_styles
from copycost.figures.output import save
from copycost.figures.style import styled
from copycost.figures.tables import Drawn, Legend
from copycost.figures.text import add_tips, empty_figure, point_tips
from copycost.records.files import read_json, write_json
from copycost.wording.words import plural

SCHEMA_VERSION = 2
_CELL = ["implementation", "msg_bytes", "n_threads"]
_PAIRS = ("one_copy_vs_two_copy", "zero_copy_vs_two_copy")
_COLUMNS_MOST = 4
_ROW_CM = 4.4
_HERE, _THERE = "this host", "published"
_COLUMNS = ["run", "where", "testbed", *_CELL, "quantity", "unit", "value", "low", "high"]


def compare_published(facts: Path, summary: Path, published: Path, folder: Path) -> Facts:
    """Write ``beside.json`` and ``throughput.svg`` with its CSV; return the facts.

    `facts`, `summary`: results/facts.json and results/tables/summary.csv of this host. Each run of
    `published`, data/published, stands beside the condition of its own kind, else the first.
    """
    ours, mine = read_json(facts), read_table(summary)
    measured: list[str] = ours["measured_conditions"]
    runs: list[Facts] = []
    points = [pd.DataFrame(columns=_COLUMNS)]
    for source in read_yaml(published / "sources.yaml")["runs"] if measured else ():
        name, testbed = source["name"], str(source["testbed"])
        condition = testbed if testbed in measured else measured[0]
        run, told = analyse_dataset(read_dataset(published / f"{name}.csv", FileMapping()))
        there = _throughputs(run.summary, name, _THERE, name)
        here = _throughputs(mine[mine["condition"] == condition], name, _HERE, condition)
        points += [there, here[here["n_threads"].isin(there["n_threads"])]]
        theirs = told["conditions"][name]["crossovers"]
        runs.append({
            **{key: source[key] for key in ("name", "title", "system", "method", "differences")},
            "testbed": condition,
            "same_path": condition == testbed,
            "crossovers": [
                _beside(ours["conditions"][condition]["crossovers"][pair], theirs[pair])
                for pair in _PAIRS
            ],
        })  # fmt: skip
    shown = [part for part in points if len(part)] or points[:1]
    drawn = draw_throughput(
        pd.concat(shown, ignore_index=True), {run["name"]: run["title"] for run in runs}
    )
    folder.mkdir(parents=True, exist_ok=True)
    save(drawn, folder / "throughput.svg")
    beside = {"schema_version": SCHEMA_VERSION, "runs": runs, "is_drawn": len(drawn.data) > 0}
    write_json(beside, folder / "beside.json")
    return beside


def _throughputs(summary: pd.DataFrame, run: str, where: str, testbed: str) -> pd.DataFrame:
    """Return the medians of a table of summaries as points of the figure [Gbit/s]."""
    rows = summary[(summary["metric"] == THROUGHPUT) & (summary["n"] > 0)]
    values = rows[["median", "low", "high"]].set_axis(["value", "low", "high"], axis=1) * 1e-9
    about = {"run": run, "where": where, "testbed": testbed}
    points = rows[_CELL].join(values).assign(**about, quantity="throughput", unit="Gbit/s")
    return points[_COLUMNS]


def _beside(ours: Facts, theirs: Facts) -> Facts:
    """Return what both say of a pair along the sizes, for the thread counts that both have."""
    mine = {row["n_threads"]: row for row in ours["by_threads"]}
    rows = [
        {"n_threads": row["n_threads"], "ours": mine[row["n_threads"]], "theirs": row}
        for row in theirs["by_threads"]
        if row["n_threads"] in mine and row["outcome"] != "not_measured"
    ]
    return {name: theirs[name] for name in ("implementation", "baseline")} | {"rows": rows}


@styled
def draw_throughput(points: pd.DataFrame, titles: Mapping[str, str]) -> Drawn:
    """Draw throughput against size: a row per published run, a column per thread count of it."""
    if points.empty:
        return Drawn(empty_figure("Nothing was measured on this host."), points)
    parts = []
    for _, of in points.groupby("run", sort=False):
        # The fullest few of the thread counts that the published run has.
        cells = of[of["where"] == _THERE]["n_threads"].value_counts()
        column = {n: place for place, n in enumerate(sorted(cells.index[:_COLUMNS_MOST]))}
        parts.append(of.assign(column=of["n_threads"].map(column)))
    shown = pd.concat(parts, ignore_index=True).dropna(subset="column")
    sheet = new_sheet(shown, _ROW_CM, column="column", row="run", share_y="row")
    styles = way_styles(shown["implementation"])
    for panel in sheet.contents:
        panel.axes.set_visible(len(panel.data) > 0)
    for panel in sheet.panels():
        first: Any = panel.data.iloc[0]
        of_run = shown[shown["run"] == first["run"]]
        _draw_panel(panel.axes, panel.data, styles)
        value_axis(panel.axes, scale_of(of_run))
        size_axis(panel.axes, of_run["msg_bytes"], sheet.panel_width_cm)
        panel.axes.set(title=plural(int(first["n_threads"]), "thread"), xlabel="message size")
        if panel.place % sheet.n_columns == 0:
            panel.axes.set_ylabel(f"{titles[first['run']]}\nthroughput [Gbit/s]")
    names = tuple(in_order(shown["implementation"]))
    return Drawn(finish(sheet, shown, Legend(names, {}), []), points)


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
