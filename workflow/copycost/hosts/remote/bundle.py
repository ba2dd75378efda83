"""The agent as one file: a zip of the modules it takes, which any Python from 3.11 on runs.

The same modules give the same bytes, so that its digest tells whether a machine has it already.
"""

import ast
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

_PACKAGE = Path(__file__).parents[2]
_AGENT = "copycost.hosts.remote.agent"
TOO_OLD = 91
"""What the agent ends with where Python is older than it needs."""

_MAIN = f"""\
import sys
if sys.version_info < (3, 11):
    sys.exit({TOO_OLD})
from {_AGENT} import main
sys.exit(main())
"""
# zip files know no time before
_TIME = (1980, 1, 1, 0, 0, 0)


def agent_modules() -> dict[str, Path]:
    """Return the agent's modules, those that it imports included: path within the bundle, file."""
    found: dict[str, Path] = {}
    waiting = [_AGENT]
    while waiting:
        name = waiting.pop()
        base = _PACKAGE.parent.joinpath(*name.split("."))
        files = (base / "__init__.py", base.with_suffix(".py"))
        path = next((file for file in files if file.exists()), None)
        # none of others' modules, and of names only those that are modules
        if not name.startswith(_PACKAGE.name) or path is None or path in found.values():
            continue
        found[str(path.relative_to(_PACKAGE.parent))] = path
        waiting += [*_imported(path), name.rpartition(".")[0]]
    return dict(sorted(found.items()))


def agent_bundle() -> bytes:
    """Return the zip file; ``python3 -I FILE --programs DIR`` serves."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as bundle:
        for inside, path in agent_modules().items():
            bundle.writestr(zipfile.ZipInfo(inside, _TIME), path.read_bytes())
        bundle.writestr(zipfile.ZipInfo("__main__.py", _TIME), _MAIN)
    return data.getvalue()


def _imported(path: Path) -> Iterator[str]:
    """Yield the dotted names that a module imports, which may be modules or things in them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
