"""A room of the package imports only from rooms below it, in the order of CONTRIBUTING.md."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "workflow/copycost"

# Neither knows the other: a driver not who watches, an observer not who drives.
APART = {("drivers", "observers"), ("observers", "drivers")}
AT_THE_TOP = {"__init__.py", "__main__.py", "errors.py"}


def rooms() -> list[str]:
    """Return the rooms from the top floor down."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    section = page.split("## The rooms of the package")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)(?:\.py)?` \|", section, re.MULTILINE)


def imported_rooms(room: str) -> Iterator[tuple[str, Path]]:
    """Yield the rooms that a room imports from, with the file that does."""
    for path in (PACKAGE / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in names:
                match = re.match(r"copycost\.(\w+)", name)
                if match is not None:
                    yield match[1], path


def test_every_module_is_in_a_room() -> None:
    assert {path.name for path in PACKAGE.glob("*.py")} == AT_THE_TOP
    folders = {path.parent.relative_to(PACKAGE).parts[0] for path in PACKAGE.glob("*/**/*.py")}
    assert folders | {"errors"} == set(rooms())


# With the order of the rooms, this excludes circles, and rooms that import each other.
@pytest.mark.parametrize("room", rooms()[:-1])
def test_a_room_imports_only_from_below(room: str) -> None:
    above = set(rooms()[: rooms().index(room)])
    found = {
        (name, str(path.relative_to(PACKAGE)))
        for name, path in imported_rooms(room)
        if name in above or (room, name) in APART
    }
    assert found == set()
