"""The rules of report/_macros/README.md, for the templates that keep them."""

import re
from pathlib import Path

import pytest

REPORT = Path(__file__).parents[3] / "report"
# Clauses that other chapters still put into their sentences.
_NOT_YET = {"analysis_crossover.j2"}
TEMPLATES = [path for path in sorted(REPORT.rglob("analysis*.j2")) if path.name not in _NOT_YET]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
@pytest.mark.parametrize(
    ("wrong", "instead"),
    [
        (r".{101,}", "a line of at most 100 columns"),
        (r"append\(", "a list that Python made"),
        (r"\| *replace\(", "a sentence for each case"),
        (r"\{[{%][^{}]* ~ [^{}]*[%}]\}", "a sentence that is written out"),
        (r"\blower_first\b", "a sentence of its own"),
    ],
)
def test_template_keeps_the_rules(path: Path, wrong: str, instead: str) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [line for line in lines if re.search(wrong, line)]
    assert found == [], f"expected {instead}"
