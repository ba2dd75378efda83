"""Writes and typesets the report of a comparison, by the templates and typesetters of a run's."""

from collections.abc import Callable, Sequence
from pathlib import Path

from copycost.analysis.json_values import Facts
from copycost.compare.runs.facts import Comparison
from copycost.compare.runs.figures import figures_of
from copycost.compare.runs.folders import end_of
from copycost.compare.runs.tables import NAMES, TEMPLATES, fill, table_rows
from copycost.figures.output import save
from copycost.records.files import write_json
from copycost.report.assets import gather_assets
from copycost.report.render import Format, render_report

TITLE = "Two sides compared"


def write_report(compared: Comparison, folder: Path, formats: Sequence[Format]) -> list[Path]:
    """Write facts, the table of cells, figures and the report into a folder; return the reports."""
    drawn = folder / "figures" / "ratios"
    drawn.mkdir(parents=True, exist_ok=True)
    facts = compared.facts
    write_json(facts, folder / "facts.json")
    compared.cells.to_csv(folder / "cells.csv", index=False)
    figures: list[Path] = []
    shown: dict[str, list[str]] = {}
    for quantity in facts["quantities"]:
        name = quantity["name"]
        shown[name] = []
        for number, figure in enumerate(figures_of(compared.cells, name), 1):
            svg = drawn / f"{name}_{number}.svg"
            save(figure, svg)
            figures.append(svg)
            shown[name].append(f"assets/ratios/{svg.name}")
    gather_assets(figures, [], TEMPLATES, folder / "assets")
    qmd = folder / "report.qmd"
    text = fill(
        "between_runs.qmd.j2", title=TITLE, subtitle=_sides(facts, str),
        running=_sides(facts, end_of), compared=facts, rows=table_rows(facts), names=NAMES,
        figures=shown,
    )  # fmt: skip
    qmd.write_text(text, encoding="utf-8")
    return render_report(qmd, formats)


def _sides(facts: Facts, name: Callable[[str], str]) -> str:
    sides = [facts["sides"][side] for side in ("a", "b")]
    names = [
        name(runs[0]["folder"]) + (f" and {len(runs) - 1} more" if len(runs) > 1 else "")
        for runs in sides
    ]
    return f"A: {names[0]}; B: {names[1]}"
