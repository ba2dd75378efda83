"""How templates of the report are written: whole sentences, of which no part is put together.

What is left of the old ways may only become less: a template that keeps the rules comes off its
list.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

TEMPLATES = Path(__file__).parents[3] / "report"
COLUMNS = 100

STILL_TO_CONVERT: set[str] = set()

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


@pytest.mark.parametrize("name", [name for name in templates() if name not in STILL_TO_CONVERT])
def test_template_keeps_the_rules(name: str) -> None:
    assert broken((TEMPLATES / name).read_text(encoding="utf-8")) == []


def test_list_of_the_others_only_becomes_shorter() -> None:
    assert set(templates()) >= STILL_TO_CONVERT
    kept = [
        name
        for name in STILL_TO_CONVERT
        if not broken((TEMPLATES / name).read_text(encoding="utf-8"))
    ]
    assert kept == [], "take them off the list"


@pytest.mark.parametrize(
    "wrong",
    [
        "x" * 101,
        '{{ "a " ~ name }}',
        "{% set _ = words.append(name) %}",
        '{{ text | replace("a", "b") }}',
        'It was {{ "once " if once }}seen.',
        "It was {% if once %}once {% endif %}seen.",
    ],
)
def test_each_old_way_is_found(wrong: str) -> None:
    assert len(broken(wrong)) == 1


def test_texts_within_tags_are_no_code() -> None:
    assert broken("{{ 'a ~ b' }} and {{ names | join_and }}") == []
