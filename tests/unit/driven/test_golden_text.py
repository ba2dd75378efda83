"""The chapters' texts of every branch, as they stand in tests/golden (see golden/compare.py)."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import budgets
import datagram_tables
import pytest
from golden import budget_scenarios, datagram_scenarios
from golden.compare import GOLDEN, golden_text
from jinja2 import Environment

from copycost.config.cpu_budget import FIGURES as BUDGET_FIGURES
from copycost.config.datagrams import FIGURES as DATAGRAM_FIGURES
from copycost.report.write import make_environment

BUDGETS, DATAGRAMS = budget_scenarios.SCENARIOS, datagram_scenarios.SCENARIOS
TEMPLATES = Path(__file__).parents[3] / "report"


@cache
def environment() -> Environment:
    """Return one environment for all texts: compiling takes longer than filling."""
    return make_environment(TEMPLATES)


def text_of(chapter: str, facts: Mapping[str, Any], figures: tuple[str, ...]) -> str:
    names = list(figures) if facts["n_measured"] else []
    template = environment().get_template(f"{chapter}.qmd.j2")
    return template.render(
        {chapter: facts},
        figures={chapter: names},
        provenance=lambda folder, name: f"Source: `results/figures/{folder}/{name}.csv`.",
    )


@pytest.mark.parametrize("name", BUDGETS)
def test_text_on_the_cpu_budget_is_the_golden_one(name: str) -> None:
    text = text_of("cpu_budget", budgets.facts_of(BUDGETS[name]), BUDGET_FIGURES)
    assert text == golden_text(GOLDEN / "cpu_budget" / f"{name}.md", text)


@pytest.mark.parametrize("name", DATAGRAMS)
def test_text_on_the_datagrams_is_the_golden_one(name: str) -> None:
    text = text_of("datagrams", datagram_tables.facts_of(DATAGRAMS[name]), DATAGRAM_FIGURES)
    assert text == golden_text(GOLDEN / "datagrams" / f"{name}.md", text)


@pytest.mark.parametrize(
    ("chapter", "scenarios"), [("cpu_budget", BUDGETS), ("datagrams", DATAGRAMS)]
)
def test_every_golden_text_has_its_scenario(chapter: str, scenarios: Mapping[str, Any]) -> None:
    assert {path.stem for path in (GOLDEN / chapter).glob("*.md")} == set(scenarios)
