"""From a synthetic run to its facts and its text, as the workflow would make them."""

from functools import cache
from pathlib import Path

import pandas as pd
from jinja2 import Environment
from synthetic import Run, make_cells, make_config, make_host

from copycost.analysis.finding import Finding, of, read_finding
from copycost.analysis.json_values import Facts
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.analysis.tables import compare, summarise
from copycost.figures import FIGURES
from copycost.records.files import aside_facts
from copycost.report.environment import make_environment
from copycost.studies.streams.facts import Inputs, compute_facts

TEMPLATES = Path(__file__).parent.parent / "report"


def inputs_of(run: Run, cells: pd.DataFrame | None = None) -> Inputs:
    """Return what facts are computed from; `cells` replaces the run's own."""
    table = make_cells(run) if cells is None else cells
    config = make_config(run)
    settings = StatisticsSettings(**config["statistics"])
    return Inputs(
        cells=table,
        summary=summarise(table, settings),
        ratios=compare(table, settings),
        host=make_host(run),
        config=config,
    )


def facts_of(run: Run, cells: pd.DataFrame | None = None) -> Facts:
    """Return the facts of a synthetic run."""
    return compute_facts(inputs_of(run, cells))


def text_of(facts: Facts, *names: str) -> str:
    """Return the rendered templates of these names: decisions, analysis."""
    environment = _environment()
    figures = {
        name: list(FIGURES) if facts["conditions"][name]["n_measured"] else []
        for name in facts["grid"]["conditions"]
    }
    texts = [
        environment.get_template(f"{name}.qmd.j2").render(
            facts=facts,
            findings=[read_finding(found) for found in facts["findings"]],
            conditions=list(facts["conditions"].values()),
            provenance=lambda condition, figure: f"Source: `{condition}/{figure}.csv`.",
            figures=figures,
            implementations=facts["grid"]["implementations"],
            set_aside=aside_facts(None),
            strategies={},
        )
        for name in names
    ]
    return "\n".join(texts)


@cache
def _environment() -> Environment:
    """Return one environment for all texts: compiling takes longer than filling."""
    return make_environment(TEMPLATES)


def asked(facts: Facts, question: str, condition: str | None = None) -> list[Finding]:
    """Return the findings of a question, under one condition or all."""
    found = of([read_finding(one) for one in facts["findings"]], question)
    return [one for one in found if condition in (None, one.condition)]
