"""Golden texts of macros: what each branch says, a line per branch."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment

from copycost.report.environment import make_environment
from copycost.wording.words import one_line

_TEMPLATES = Path(__file__).parents[2] / "report"


@cache
def environment() -> Environment:
    """Return one environment for all texts: compiling takes longer than filling."""
    return make_environment(_TEMPLATES)


def sentences(macros: str, name: str, *arguments: object) -> str:
    """Return what a macro of a file in ``report/_macros`` says, on one line."""
    module: Any = environment().get_template(f"_macros/{macros}.j2").module
    return one_line(getattr(module, name)(*arguments))


def branches(texts: Mapping[str, str]) -> str:
    """Return the golden text of a macro: the name of each branch and what it says."""
    return "".join(f"{branch}: {text or '(nothing)'}\n" for branch, text in texts.items())


def chapter(name: str, facts: Mapping[str, Any], figures: list[str], *appendix: str) -> str:
    """Return the whole chapter of a study, with its chapters of the appendix."""
    context = {
        name: facts,
        "figures": {name: figures},
        "provenance": lambda folder, figure: f"Source: `results/figures/{folder}/{figure}.csv`.",
    }
    templates = (environment().get_template(f"{each}.qmd.j2") for each in (name, *appendix))
    return "\n".join(template.render(context) for template in templates)
