"""How templates of the report are written: whole sentences, of which no part is put together."""

import re
from pathlib import Path

import pytest
from jinja2 import Environment

from copycost.report.environment import make_environment

TEMPLATES = Path(__file__).parents[3] / "report"
ROOMS = TEMPLATES.parent / "workflow" / "copycost"
TABLES = (*ROOMS.glob("report/*.py"), *ROOMS.glob("studies/*/chapter.py"))

_TAG = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_STRING = re.compile(r"\"[^\"]*\"|'[^']*'")
# what breaks a rule: anywhere in a template, and in its tags, of whose texts nothing is looked at
ANYWHERE = {
    "a line has at most 100 columns": r"^.{101,}$",
    "no text is chosen within a line": r"\{\{[^}]*\bif\b[^}]*\}\}",
    "a branch is no part of a line": r"^.*\S.*\{%-? *(?:if|elif|else)\b.*$",
}
IN_TAGS = {
    "texts are not put together": "~",
    "neither sentences nor rows are gathered": r"\b(append|extend|setdefault)\(",
    "finished prose is not patched": r"\|\s*(replace|labelled)\b",
}


def broken(template: str) -> list[str]:
    tags = [_STRING.sub("''", tag) for tag in _TAG.findall(template)]
    anywhere = (
        f"{rule}: {found[0]}"
        for rule, pattern in ANYWHERE.items()
        for found in re.finditer(pattern, template, re.MULTILINE)
    )
    in_tags = (
        f"{rule}: {tag}"
        for rule, pattern in IN_TAGS.items()
        for tag in tags
        if re.search(pattern, tag)
    )
    return [*anywhere, *in_tags]


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
