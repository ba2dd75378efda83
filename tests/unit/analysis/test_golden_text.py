"""The text of every branch, as it stands in tests/golden/analysis.

After an intended change: ``COPYCOST_UPDATE_GOLDEN=1 pytest tests/unit/analysis``, then read the
difference before committing it.
"""

import os
from functools import cache
from pathlib import Path

import pytest
from analysed import facts_of, text_of
from golden.compare import golden_text
from golden.scenarios import SCENARIOS

from copycost.analysis.json_values import Facts

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parents[2] / "golden" / "analysis"
UPDATE = os.environ.get("COPYCOST_UPDATE_GOLDEN") == "1"


@cache
def facts_of_scenario(name: str) -> Facts:
    return facts_of(SCENARIOS[name])


@pytest.mark.parametrize("name", SCENARIOS)
def test_text_is_the_golden_one(name: str) -> None:
    text = text_of(facts_of_scenario(name), "summary", "analysis")
    path = GOLDEN / f"{name}.md"
    if UPDATE:
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"no golden text for {name}; see the head of this file"
    assert text == path.read_text(encoding="utf-8")


def test_answers_in_short_are_the_golden_ones() -> None:
    answers = [f"# {name}\n\n{text_of(facts_of_scenario(name), 'in_short')}" for name in SCENARIOS]
    text = "\n".join(answers)
    assert text == golden_text(GOLDEN.parent / "in_short.md", text)


def test_every_golden_text_has_its_scenario() -> None:
    assert {path.stem for path in GOLDEN.glob("*.md")} == set(SCENARIOS)
