"""What the Snakefile does whenever it is read, which jobs that run elsewhere do too."""

import ast
from pathlib import Path

import pytest

from copycost.checkout import ROOT

ROOM = ROOT / "workflow" / "copycost" / "snakefile"
# Programs of their own, with command lines of their own.
PROGRAMS = {"retry.py", "script_server.py"}

MODULES = [path for path in sorted(ROOM.glob("*.py")) if path.name not in PROGRAMS]
RULES = [ROOT / "Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk"))]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_module_of_the_room_reads_the_command_line(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        assert not (isinstance(node, ast.Attribute) and node.attr in ("argv", "orig_argv"))
        assert not (isinstance(node, ast.ImportFrom) and node.module in ("sys", "argparse"))


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_rules_neither_read_the_command_line_nor_change_each_other_s_lists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for word in ("argv", "+=", ".append(", ".extend(", ".update(", "global ", "setdefault"):
        assert word not in text


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_rules_ask_no_result_whether_it_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for word in (".exists(", ".is_file(", "isfile", 'Path("results', "open(", "unlink"):
        assert word not in text
