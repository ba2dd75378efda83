"""How templates of the report are written: whole sentences, of which no part is put together."""

import re
from pathlib import Path

from jinja2 import Environment

from copycost.report.environment import make_environment

TEMPLATES = Path(__file__).parents[3] / "report"
ROOMS = TEMPLATES.parent / "workflow" / "copycost"
TABLES = (*ROOMS.glob("report/*_tables.py"), *ROOMS.glob("studies/*/chapter.py"))


def templates() -> list[str]:
    return sorted(str(path.relative_to(TEMPLATES)) for path in TEMPLATES.rglob("*.j2"))


def read(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def test_every_word_that_templates_may_use_is_used() -> None:
    plain, ours = Environment(), make_environment(TEMPLATES)
    # tables ask for some by name: in_cell(slope, "gbit")
    tables = "".join(path.read_text(encoding="utf-8") for path in TABLES)
    used = {*re.findall(r"\w+", "".join(map(read, templates()))), *re.findall(r'"(\w+)"', tables)}
    for kind in ("filters", "tests", "globals"):
        assert set(getattr(ours, kind)) - set(getattr(plain, kind)) - used == set()
