"""A whole results folder from a synthetic run, through the real tables, facts and figures."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import yaml
from synthetic import Run, make_cells, make_config, make_host
from synthetic.memory import make_memory

from copycost.analysis.columns import read_table, write_table
from copycost.analysis.conditions import with_condition
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.analysis.tables import compare, summarise
from copycost.figures import FIGURES, OVERVIEW, RANKING
from copycost.figures.condition import draw
from copycost.figures.output import save
from copycost.figures.tables import tables_of
from copycost.records.files import read_json, write_json
from copycost.report.assets import gather_assets
from copycost.report.write import Sources, write_report
from copycost.studies.streams.facts import Inputs, compute_facts
from copycost.studies.streams.overviews import draw_overviews, draw_rankings
from report import made

REPORT = Path(__file__).parents[2] / "report"
STRATEGIES = REPORT.parent / "src" / "strategies"


def write_results(run: Run, folder: Path, *, whole: bool = False) -> None:
    """Write tables, facts and configuration of a run; a `whole` one has all other studies too."""
    config, host, cells = make_config(run), make_host(run), make_cells(run)
    settings = StatisticsSettings(**config["statistics"])
    summary, ratios = summarise(cells, settings), compare(cells, settings)
    folder.mkdir(parents=True, exist_ok=True)
    inputs = Inputs(cells, summary, ratios, host, config)
    if whole:
        config["round_trips"] = made.CONFIG
        table, _ = made.write_round_trips(folder)
        inputs = replace(inputs, memory=make_memory(), round_trips=table)
    write_json(compute_facts(inputs), folder / "facts.json")
    write_table(summary, folder / "summary.csv")
    write_table(ratios, folder / "ratios.csv")
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    cells.to_parquet(folder / "cells.parquet")


def draw_figures(folder: Path) -> None:
    """Draw all figures of a run from its tables and facts."""
    facts = read_json(folder / "facts.json")
    cells = with_condition(pd.read_parquet(folder / "cells.parquet"))
    summary = read_table(folder / "summary.csv")
    conditions = facts["grid"]["conditions"]
    for condition in conditions:
        tables = tables_of(condition, cells, summary)
        for name in FIGURES:
            svg = folder / "figures" / condition / f"{name}.svg"
            svg.parent.mkdir(parents=True, exist_ok=True)
            save(draw(name, tables), svg)
    draw_rankings(facts, [folder / "figures" / name / f"{RANKING}.svg" for name in conditions])
    (folder / "figures" / OVERVIEW).mkdir()
    wanted = {
        "answer": True,
        "memory_floor": facts["memory"] is not None,
        "round_trips": facts["round_trips"] is not None,
    }
    overviews = [folder / "figures" / OVERVIEW / f"{name}.svg" for name in wanted if wanted[name]]
    curves = sorted(folder.glob("round_trip_curves.csv"))
    draw_overviews(facts, folder / "summary.csv", folder / "ratios.csv", curves, overviews)


def sources_of(folder: Path) -> Sources:
    """Return the files that the report in `folder` is written from."""
    return Sources(
        facts=folder / "facts.json",
        figures=sorted(folder.glob("figures/*/*.svg")),
        strategies=sorted(STRATEGIES.glob("*.c")),
        diagrams=sorted((REPORT / "diagrams").glob("*.svg")),
    )


def write_example(
    run: Run, folder: Path, title: str = "What does each copy cost?", *, whole: bool = False
) -> Path:
    """Write everything up to the report's Markdown and return the latter's path."""
    write_results(run, folder, whole=whole)
    draw_figures(folder)
    report = folder / "report"
    report.mkdir()
    sources = sources_of(folder)
    gather_assets(sources.figures, sources.diagrams, REPORT, report / "assets")
    assert write_report(sources, REPORT, title, report / "report.qmd") == {}
    return report / "report.qmd"
