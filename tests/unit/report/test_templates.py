"""How templates of the report are written: whole sentences, of which no part is put together."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from jinja2 import Environment

from copycost.report.environment import make_environment

TEMPLATES = Path(__file__).parents[3] / "report"
ROOMS = TEMPLATES.parent / "workflow" / "copycost"
TABLES = (*ROOMS.glob("report/*.py"), *ROOMS.glob("studies/*/chapter.py"))
COLUMNS = 100

_TAG = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_STRING = re.compile(r"\"[^\"]*\"|'[^']*'")


def long_lines(template: str) -> list[str]:
    return [line for line in template.splitlines() if len(line) > COLUMNS]


def in_tags(pattern: str) -> Callable[[str], list[str]]:
    def found(template: str) -> list[str]:
        tags = [_STRING.sub("''", tag) for tag in _TAG.findall(template)]
        return [tag for tag in tags if re.search(pattern, tag)]

    return found


RULES: dict[str, Callable[[str], list[str]]] = {
    "a line has at most 100 columns": long_lines,
    "texts are not put together": in_tags("~"),
    "neither sentences nor rows are gathered": in_tags(r"\b(append|extend|setdefault)\("),
    "finished prose is not patched": in_tags(r"\|\s*(replace|labelled)\b"),
    "no text is chosen within a line": lambda template: re.findall(
        r"\{\{[^}]*\bif\b[^}]*\}\}", template
    ),
    "a branch is no part of a line": lambda template: re.findall(
        r"^.*\S.*\{%-? *(?:if|elif|else)\b.*$", template, re.MULTILINE
    ),
}


def broken(template: str) -> list[str]:
    return [f"{rule}: {text}" for rule, find in RULES.items() for text in find(template)]


def templates() -> list[str]:
    return sorted(str(path.relative_to(TEMPLATES)) for path in TEMPLATES.rglob("*.j2"))


def read(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", templates())
def test_template_keeps_the_rules(name: str) -> None:
    assert broken(read(name)) == []


def test_every_word_that_templates_may_use_is_used() -> None:
    plain, ours = Environment(), make_environment(TEMPLATES)
    # tables ask for some by name: in_cell(slope, "gbit")
    tables = "".join(path.read_text(encoding="utf-8") for path in TABLES)
    used = {*re.findall(r"\w+", "".join(map(read, templates()))), *re.findall(r'"(\w+)"', tables)}
    for kind in ("filters", "tests", "globals"):
        assert set(getattr(ours, kind)) - set(getattr(plain, kind)) - used == set()
