"""Writes and typesets the report of an audit, with the figures and chapters of our own reports."""

import os
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from copycost.analysis.columns import write_table
from copycost.analysis.finding import read_finding
from copycost.analysis.json_values import Facts
from copycost.audit.dataset_analysis import DatasetAnalysis
from copycost.audit.templates import TEMPLATES, fill, table_rows
from copycost.figures.condition import draw
from copycost.figures.names import AUDIT_FIGURES
from copycost.figures.output import save
from copycost.figures.tables import Tables, tables_of
from copycost.records.files import write_json
from copycost.report.assets import gather_assets, shown_figures, worth_showing
from copycost.report.render import Format, render_report
from copycost.wording.markdown import code

_CAPTIONS = {
    "speed_and_cost": "Throughput and the cost of a byte against message size",
    "time_per_message": "Latency by message size and number of threads",
    "counters": "Cache misses per byte and context switches per message against message size",
}


def write_tables(analysed: DatasetAnalysis, folder: Path) -> None:
    """Write the tables of the analysis, as in the results of a run of our own."""
    folder.mkdir(parents=True, exist_ok=True)
    analysed.cells.to_csv(folder / "cells.csv", index=False)
    write_table(analysed.summary, folder / "summary.csv")
    write_table(analysed.ratios, folder / "ratios.csv")


def draw_figures(analysed: DatasetAnalysis, folder: Path) -> list[Path]:
    """Draw the figures of every dataset as SVG, on all CPUs; return them."""
    jobs: list[tuple[Tables, str, Path]] = []
    for slug in analysed.facts["grid"]["conditions"]:
        tables = tables_of(slug, analysed.cells, analysed.summary)
        (folder / slug).mkdir(parents=True, exist_ok=True)
        jobs += [(tables, name, folder / slug / f"{name}.svg") for name in AUDIT_FIGURES]
    n_workers = min(len(os.sched_getaffinity(0)), len(jobs))
    if n_workers < 2:
        for job in jobs:
            _draw_one(*job)
    else:
        # Forked, since a new interpreter takes longer to import what draws than to draw; nothing
        # here has threads that hold locks.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            with ProcessPoolExecutor(n_workers, get_context("fork")) as pool:
                for done in [pool.submit(_draw_one, *job) for job in jobs]:
                    done.result()
    return [svg for _, _, svg in jobs]


def _draw_one(tables: Tables, name: str, svg: Path) -> None:
    save(draw(name, tables), svg)


def typeset(
    template: str, folder: Path, figures: Sequence[Path], formats: Sequence[Format], /,
    **context: Any,  # noqa: ANN401 - what a template may ask for
) -> list[Path]:  # fmt: skip
    """Write a report by its template, with figures that were drawn already; return its files."""
    return render_report(_write(template, folder, figures, context), formats)


def _write(
    template: str, folder: Path, figures: Sequence[Path], context: Mapping[str, Any]
) -> Path:
    gather_assets(list(figures), [], TEMPLATES, folder / "assets")
    qmd = folder / "report.qmd"
    qmd.write_text(fill(template, **context), encoding="utf-8")
    return qmd


def write_audit_report(
    analysed: DatasetAnalysis, audit: Facts, figures: list[Path], folder: Path, title: str
) -> Path:
    """Write ``report.qmd`` and what it shows; return its path."""
    facts = analysed.facts
    write_json(facts, folder / "facts.json")
    write_json(audit, folder / "audit.json")

    def provenance(condition: str, figure: str) -> str:
        return f"Source: `figures/{condition}/{figure}.csv`; file {code(audit['file'])}."

    slugs = facts["grid"]["conditions"]
    conditions = [facts["conditions"][slug] for slug in slugs]
    shown = worth_showing(shown_figures(figures), facts["conditions"])
    context = {
        "title": title,
        "subtitle": f"An audit of {audit['file']}",
        "running": audit["file"],
        "facts": facts,
        "host": facts["host"],
        "audit": audit,
        "findings": [read_finding(found) for found in facts["findings"]],
        "rows": table_rows(audit),
        "captions": _CAPTIONS,
        "conditions": conditions,
        "figures": {name: list[str]() for name in slugs} | shown,
        "provenance": provenance,
    }
    return _write("audit.qmd.j2", folder, figures, context)
