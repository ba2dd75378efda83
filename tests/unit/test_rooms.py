"""A room of the package imports only from rooms below it, in the order of CONTRIBUTING.md."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "workflow/copycost"

AT_THE_TOP = {"__init__.py", "__main__.py", "errors.py"}


def rooms() -> list[str]:
    """Return the rooms from the top floor down."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    section = page.split("## The rooms of the package")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)(?:\.py)?` \|", section, re.MULTILINE)


def imported(text: str) -> Iterator[str]:
    """Yield the dotted names that a text imports, within functions too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def imported_rooms(room: str) -> Iterator[tuple[str, Path]]:
    """Yield the rooms that a room imports from, with the file that does."""
    for path in (PACKAGE / room).rglob("*.py"):
        for name in imported(path.read_text(encoding="utf-8")):
            match = re.match(r"copycost\.(\w+)", name)
            if match is not None:
                yield match[1], path


def circle(texts: dict[str, str]) -> list[str]:
    """Return the modules of a circle of imports, the first one again at its end; none without."""
    graph = {
        module: {name for name in imported(text) if name in texts and name != module}
        for module, text in texts.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


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
        if name in above
    }
    assert found == set()


def test_nothing_in_the_package_imports_tools() -> None:
    for path in (*PACKAGE.rglob("*.py"), *(ROOT / "workflow/scripts").glob("*.py")):
        names = imported(path.read_text(encoding="utf-8"))
        assert "tools" not in {name.split(".")[0] for name in names}, path


def test_a_driver_does_not_know_who_watches() -> None:
    assert "observers" not in dict(imported_rooms("measure/drivers"))


def test_no_module_imports_itself_by_way_of_others() -> None:
    texts = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path.read_text("utf-8")
        for path in PACKAGE.rglob("*.py")
        if path.name != "__init__.py"
    }
    assert circle(texts) == []


def test_the_picture_of_the_data_flow_names_rooms() -> None:
    picture = (ROOT / "docs/data_flow.svg").read_text(encoding="utf-8")
    named = " ".join(re.findall(r'font-family="monospace"[^>]*>([^<]+)<', picture)).split()
    assert named
    assert set(named) <= set(rooms())
