"""Tools use the package, never the other way round."""

import ast

from copycost.checkout import ROOT


def test_nothing_in_the_package_imports_tools() -> None:
    files = [*(ROOT / "workflow/copycost").rglob("*.py"), *(ROOT / "workflow/scripts").glob("*.py")]
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not any(name.split(".")[0] == "tools" for name in names), path
