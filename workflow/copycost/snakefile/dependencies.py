"""Which files of the package a rule depends on: those that its script can import, and their data.

Snakemake does not see edits of imported modules, so every rule has a digest of them among its
parameters. The list is read from the import statements, those within functions included, and
follows them through the package. A module that names a file in a string, a schema or a file beside
it, depends on that one too. What is imported by a name that is made up at run time cannot be seen
here: the rule has to state it (`plot_figure` does).
"""

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

PACKAGE = Path("workflow", "copycost")
SCHEMAS = Path("workflow", "schemas")
SCRIPTS = Path("workflow", "scripts")
_NAME = PACKAGE.name
_IMPORT = re.compile(
    r"^[ \t]*(?:from (\w[\w.]*) import (?:\(([^)]*)\)|([^(\n]+))|import (\w[\w., ]*))", re.MULTILINE
)
_WORD = re.compile(r"\w+")
_FILE_NAME = re.compile(r"""["'](\w+(?:\.\w+)+)["']""")


def digest_of_code(root: str | Path, *starts: str | Path) -> str:
    """Return a digest of the names and contents of all that `code_of` finds."""
    return _digest_of(root, code_of(root, *starts))


def digest_of_modules(root: str | Path, *patterns: str) -> str:
    """Return that of the modules of the package that match, wherever the checkout is."""
    base = Path(root)
    files = (path for pattern in patterns for path in (base / PACKAGE).glob(f"{pattern}.py"))
    return _digest_of(root, sorted(str(path.relative_to(base)) for path in files))


def _digest_of(root: str | Path, paths: Sequence[str]) -> str:
    """Return the SHA-256 over the names and contents of files, in hexadecimal digits."""
    found = sha256()
    for path in paths:
        found.update(f"{path} {_file_digest(f'{root}/{path}')}\n".encode())
    return found.hexdigest()


@cache
def _file_digest(path: str) -> str:
    return sha256(Path(path).read_bytes()).hexdigest()


def code_of(root: str | Path, *starts: str | Path) -> list[str]:
    """Return the files of the package that scripts or modules need, directly or not, and these.

    All are relative to the checkout, and sorted: one that was moved has the same inputs.
    """
    waiting = [str(start) for start in starts]
    found: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _needed(str(root), path)
    return sorted(found)


@cache
def _needed(root: str, path: str) -> tuple[str, ...]:
    """Return the files that a module needs by itself."""
    if not path.endswith(".py"):
        return ()
    text = Path(root, path).read_text(encoding="utf-8")
    found = [file for name in imported_names(text) for file in _modules(name)]
    if path.startswith(f"{PACKAGE}/"):  # the schemas, and the files beside it, whose names it has
        beside = path.rpartition("/")[0]
        names = set(_FILE_NAME.findall(text))
        found += [f"{place}/{name}" for name in names for place in (SCHEMAS, beside)]
    return tuple(file for file in found if _exists(root, file))


@cache
def _exists(root: str, path: str) -> bool:
    return os.path.isfile(f"{root}/{path}")  # noqa: PTH113 - thousands at each start


def imported_names(text: str) -> Iterator[str]:
    """Yield the dotted names that a module imports; of ``from a import b``, `a` and `a.b`.

    By a pattern, since to parse the package would take most of a second at each start; text that
    looks like an import at the beginning of a line counts as one.
    """
    for module, within_brackets, on_the_line, plain in _IMPORT.findall(text):
        if module:
            yield module
            yield from (
                f"{module}.{name}" for name in _WORD.findall(within_brackets or on_the_line)
            )
        else:
            yield from (name for name in re.split(r" as \w+|[, ]+", plain) if name)


@cache
def _modules(name: str) -> tuple[str, ...]:
    """Return the files that are run, if they exist, when a name of the package is imported."""
    words = name.split(".")
    if words[0] != _NAME:
        return ()
    places = [f"{PACKAGE.parent}/{'/'.join(words[:n])}" for n in range(1, len(words) + 1)]
    return (*(f"{place}/__init__.py" for place in places), f"{places[-1]}.py")
