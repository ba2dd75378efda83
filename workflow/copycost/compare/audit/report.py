"""Writes and typesets the report of an audit, with the figures and chapters of our own reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from copycost.analysis.columns import write_table
from copycost.analysis.finding import read_finding
from copycost.analysis.json_values import Facts
from copycost.compare.audit.dataset import Dataset
from copycost.compare.audit.facts import analyse_dataset
from copycost.compare.audit.wording import TEMPLATES, fill
from copycost.figures import AUDIT_FIGURES
from copycost.figures.condition import draw
from copycost.figures.output import save
from copycost.figures.tables import tables_of
from copycost.records.files import write_json
from copycost.report.assets import gather_assets, shown_figures, worth_showing
from copycost.report.typeset import FORMATS, Format, render_report
from copycost.wording.markdown import code, escape

_CAPTIONS = {
    "speed_and_cost": "Throughput and the cost of a byte against message size",
    "time_per_message": "Latency by message size and number of threads",
    "counters": "Cache misses per byte and context switches per message against message size",
}
_MOST_LINES = 6


def typeset(
    template: str, folder: Path, figures: Sequence[Path], formats: Sequence[Format], /,
    **context: Any,  # noqa: ANN401 - what a template may ask for
) -> list[Path]:  # fmt: skip
    """Write a report by its template, with figures that were drawn already; return its files."""
    gather_assets(list(figures), [], TEMPLATES, folder / "assets")
    qmd = folder / "report.qmd"
    qmd.write_text(fill(template, **context), encoding="utf-8")
    return render_report(qmd, formats)


def write_report(
    dataset: Dataset, audit: Facts, folder: Path, formats: Sequence[str]
) -> list[Path]:
    """Analyse a dataset, write tables, figures, facts and the report; return its files."""
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    analysed, facts = analyse_dataset(dataset)
    analysed.cells.to_csv(tables / "cells.csv", index=False)
    write_table(analysed.summary, tables / "summary.csv")
    write_table(analysed.ratios, tables / "ratios.csv")
    write_json(facts, folder / "facts.json")
    write_json(audit, folder / "audit.json")
    slugs = facts["grid"]["conditions"]
    figures = []
    for slug in slugs:
        drawn = tables_of(slug, analysed.cells, analysed.summary)
        (folder / "figures" / slug).mkdir(parents=True, exist_ok=True)
        for name in AUDIT_FIGURES:
            figures.append(folder / "figures" / slug / f"{name}.svg")
            save(draw(name, drawn), figures[-1])
    shown = worth_showing(shown_figures(figures), facts["conditions"])
    return typeset(
        "audit.qmd.j2", folder, figures, [kind for kind in FORMATS if kind in formats],
        title=f"Audit of {dataset.name}",
        subtitle=f"An audit of {audit['file']}",
        running=audit["file"],
        facts=facts,
        host=facts["host"],
        audit=audit,
        findings=[read_finding(found) for found in facts["findings"]],
        rows=_table_rows(audit),
        captions=_CAPTIONS,
        conditions=[facts["conditions"][slug] for slug in slugs],
        figures={name: list[str]() for name in slugs} | shown,
        provenance=lambda condition, figure: (
            f"Source: `figures/{condition}/{figure}.csv`; file {code(audit['file'])}."
        ),
    )  # fmt: skip


def _table_rows(audit: Facts) -> dict[str, list[list[str]]]:
    """Return the rows of the report's tables by name, in Markdown."""
    claims = [(str(number), claim) for number, claim in enumerate(audit["claims"], 1)]
    return {
        "claims": [
            [number, escape(claim["title"]), f"**{claim['label']}**", escape(claim["because"])]
            for number, claim in claims
        ],
        "evidence": [
            [number, escape(line)]
            for number, claim in claims
            for line in _first_of(claim["evidence"])
        ],
        "findings": [
            [
                escape(finding["subject"]),
                f"{finding['kind']} ({finding['sureness']})",
                escape("; ".join([finding["found"], *_first_of(finding["cells"])])),
                escape(finding["why"]),
            ]
            for finding in audit["findings"]
        ],
        "columns": [
            [code(column["column"]),
             *(escape(column[key]) for key in ("meaning", "unit", "filled"))]
            for column in audit["columns"]
        ],
    }  # fmt: skip


def _first_of(lines: Sequence[str]) -> list[str]:
    """Return the first of some lines, and how many more there are."""
    more = len(lines) - _MOST_LINES
    return [*lines[:_MOST_LINES], *([f"and {more} more"] if more > 0 else [])]
