"""The chapter beside published runs: its data, its figures, and a report of it alone."""

from collections.abc import Sequence
from pathlib import Path

from copycost.analysis.columns import read_table
from copycost.analysis.json_values import Facts
from copycost.audit.published import comparison_facts, read_published
from copycost.audit.published_figures import draw_costs, draw_throughput
from copycost.audit.templates import TEMPLATES, fill
from copycost.figures.output import save
from copycost.records.files import read_json, write_json
from copycost.report.assets import gather_assets
from copycost.report.render import Format, render_report

FIGURES = {"throughput": "published_throughput", "cost_per_byte": "published_cost"}
"""Files of the figures, and what the template calls them."""


def compare_published(facts: Path, summary: Path, published: Path, folder: Path) -> Facts:
    """Write ``beside.json`` and the figures, as SVG with their CSV; return the facts.

    Parameters
    ----------
    facts, summary
        results/facts.json and results/tables/summary.csv of this host.
    published
        data/published.
    folder
        results/published.
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
    gather_assets(figures, [], TEMPLATES, folder / "assets")
    context = {"title": title, "subtitle": running, "running": running, "published": published}
    text = fill("published_report.qmd.j2", **context)
    qmd = folder / "report.qmd"
    qmd.write_text(text, encoding="utf-8")
    return render_report(qmd, formats)
