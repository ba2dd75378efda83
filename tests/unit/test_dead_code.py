"""Whatever the package defines is named somewhere else, in the program or in its templates."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "workflow" / "copycost"
# where a name may be asked for; what only a test asks for serves nobody
CALLERS = ("workflow", "report", "tools", "run", "Snakefile")

# called by others, by these names
CALLED_BY_OTHERS = {
    "tight_layout",  # by seaborn
    "readinto",  # by io.BufferedReader
    "filter_stream",  # by Jinja
    "narrowness",  # by the order of a dataclass
    *("CONTRADICTION", "ODD"),  # by their values, in report/audit_findings.csv
}
# of handlers, which the agent finds by the names of what it is asked
BY_PREFIX = "_do_"
_WORD = re.compile(r"[A-Za-z_]\w*")


def defined(tree: ast.Module) -> Iterator[str]:
    """Yield the functions, methods, classes, constants and fields that a file defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        body = node.body if isinstance(node, ast.Module | ast.ClassDef) else []
        for one in body:
            if isinstance(one, ast.Assign | ast.AnnAssign):
                targets = one.targets if isinstance(one, ast.Assign) else [one.target]
                yield from (target.id for target in targets if isinstance(target, ast.Name))


def words() -> Counter[str]:
    """Return how often each word stands in the program."""
    found: Counter[str] = Counter()
    for caller in CALLERS:
        paths = [ROOT / caller, *(ROOT / caller).rglob("*")]
        for path in paths:
            if path.is_file() and "__pycache__" not in path.parts:
                found.update(_WORD.findall(path.read_text(encoding="utf-8", errors="ignore")))
    return found


def test_nothing_is_defined_that_nobody_names() -> None:
    named = words()
    lonely = {
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in PACKAGE.rglob("*.py")
        for name in defined(ast.parse(path.read_text(encoding="utf-8")))
        if named[name] < 2 and name not in CALLED_BY_OTHERS
        if not name.startswith((BY_PREFIX, "__"))
    }
    assert lonely == set()
