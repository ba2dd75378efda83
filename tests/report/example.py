"""A whole results folder from a synthetic run, through the real tables, facts and figures."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pandas as pd
import yaml
from analysed import inputs_of
from sample_records import sample_record, with_round_trips
from skipped_records import save as save_record
from synthetic import Run
from synthetic.surroundings import make_memory

from copycost.analysis.columns import read_table, write_table
from copycost.analysis.conditions import with_condition
from copycost.config.cells import Cell
from copycost.figures import FIGURES, OVERVIEW, RANKING
from copycost.figures.condition import draw
from copycost.figures.output import save
from copycost.figures.tables import tables_of
from copycost.records.files import read_json, write_json
from copycost.report.assets import gather_assets
from copycost.report.write import Sources, write_report
from copycost.studies.round_trips.table import collect_round_trips
from copycost.studies.streams.facts import Inputs, compute_facts
from copycost.studies.streams.overviews import draw_overviews, draw_rankings

REPORT = Path(__file__).parents[2] / "report"
STRATEGIES = REPORT.parent / "src" / "strategies"

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="90">'
    '<rect width="9" height="9"/></svg>'
)
TRIP_FACTORS = {"two_copy": 1.0, "one_copy": 1.1, "zero_copy": 1.2}
TRIP_SIZES = (64, 4096, 65536)


def write_page(folder: Path, text: str) -> Path:
    """Write the Markdown of a page, with what is to be beside it, and a drawing `one.svg`."""
    gather_assets([], [], REPORT, folder / "assets")
    (folder / "one.svg").write_text(SVG)
    qmd = folder / "report.qmd"
    qmd.write_text(text)
    return qmd


def write_inputs(inputs: Inputs, folder: Path) -> None:
    """Write tables, facts and configuration of a run."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(compute_facts(inputs), folder / "facts.json")
    write_table(inputs.summary, folder / "summary.csv")
    write_table(inputs.ratios, folder / "ratios.csv")
    (folder / "config.yaml").write_text(yaml.safe_dump(inputs.config, sort_keys=False))


def write_results(run: Run, folder: Path, *, whole: bool = False) -> None:
    """Write what a run leaves for the report; a `whole` one has all other studies too."""
    inputs = inputs_of(run)
    if whole:
        section = {"implementations": list(TRIP_FACTORS), "testbeds": ["veth"],
                   "msg_bytes": list(TRIP_SIZES), "n_threads": [1]}  # fmt: skip
        inputs = replace(
            inputs,
            memory=make_memory(),
            round_trips=write_round_trips(folder),
            config={**inputs.config, "round_trips": section},
        )
    write_inputs(inputs, folder)
    inputs.cells.to_parquet(folder / "cells.parquet")


def write_round_trips(folder: Path) -> pd.DataFrame:
    """Write records of round trips and their tables; too few samples for p99.9."""
    paths = []
    for name, size, rep in product(TRIP_FACTORS, TRIP_SIZES, (1, 2, 3)):
        start_ns = 2_000_000_000 * (len(paths) + 1)
        record = with_round_trips(sample_record(name, msg_bytes=size, rep=rep, start_ns=start_ns))
        times = record["driver"]["sender"]["round_trip"]
        points = sorted([*times["percentiles"], [0.9, times["p90_ns"]]])
        factor = TRIP_FACTORS[name] * (20_000 + size * 0.4) * (1 + 0.01 * rep) / times["p50_ns"]
        times |= {key: times[key] * factor for key in times if key.endswith("_ns")}
        times |= {"samples": 4000, "p999_ns": None}
        times["percentiles"] = [[at, round(ns * factor)] for at, ns in points]
        cell = Cell(record["study"], **record["cell"])
        paths.append(save_record(folder, cell, record))  # type: ignore[arg-type]
    table, _ = collect_round_trips(
        paths, folder / "round_trips.csv", folder / "round_trip_curves.csv"
    )
    return table


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
