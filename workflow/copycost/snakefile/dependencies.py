"""Which files of the package a rule depends on: those that its script can import.

Snakemake does not see edits of imported modules, so every rule takes them as inputs, compared by
content. The list is read from the import statements, those within functions included, and follows
them through the package.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path("workflow", "copycost")
_NAME = PACKAGE.name


def code_of(root: str | Path, *starts: str | Path) -> list[str]:
    """Return the modules of the package that files import, directly or not, and the files.

    Parameters
    ----------
    root
        The checkout.
    starts
        Scripts or modules, relative to it; a folder stands for all modules in and below it.

    Returns
    -------
    list of str
        Paths relative to the checkout, sorted: a checkout that was moved has the same inputs.
    """
    base = Path(root)
    waiting = [base / start for start in starts]
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path.is_dir():
            waiting += path.rglob("*.py")
        elif path not in found:
            found.add(path)
            waiting += _imported(base, path)
    return sorted(str(path.relative_to(base)) for path in found)


def files_of(root: str | Path, *folders: str) -> list[str]:
    """Return the modules in folders of the package, relative to the checkout and sorted."""
    base = Path(root)
    files = (path for folder in folders for path in (base / PACKAGE / folder).rglob("*.py"))
    return sorted(str(path.relative_to(base)) for path in files)


@cache
def _imported(root: Path, path: Path) -> tuple[Path, ...]:
    """Return the package's modules that a file imports by itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return tuple(file for name in _names(tree) for file in _files(root, name))


def _names(tree: ast.Module) -> Iterator[str]:
    """Yield the dotted names that are imported; of ``from a import b``, `a` and `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _files(root: Path, name: str) -> Iterable[Path]:
    """Return the files that are run when a name of the package is imported."""
    words = name.split(".")
    if words[0] != _NAME:
        return ()
    place = root / PACKAGE.parent
    packages = (place.joinpath(*words[: n + 1], "__init__.py") for n in range(len(words)))
    module = place.joinpath(*words).with_suffix(".py")
    return [path for path in (*packages, module) if path.is_file()]
