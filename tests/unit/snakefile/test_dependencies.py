import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from copycost.config.checkout import ROOT
from copycost.snakefile import dependencies
from copycost.snakefile.dependencies import code_of

SCRIPTS = sorted((ROOT / "workflow" / "scripts").glob("*.py"))

# Imports what stands in scripts, each in a fork of its own, and prints the files of the package
# that are loaded then. Libraries are there already, which makes it quick.
LOADER = """
import json, os, sys
import matplotlib.pyplot, numpy, pandas, seaborn, yaml
for name, code in json.load(sys.stdin).items():
    sys.stdout.flush()
    if os.fork() == 0:
        exec(code, {})
        files = [m.__file__ for n, m in sys.modules.items() if n.split(".")[0] == "copycost"]
        print(json.dumps([name, files]))
        sys.stdout.flush()
        os._exit(0)
    assert os.wait()[1] == 0, name
"""


def imports_of(script: Path) -> str:
    tree = ast.parse(script.read_text(encoding="utf-8"))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return "\n".join(ast.unparse(node) for node in nodes)


@cache
def loaded() -> dict[str, set[str]]:
    """Return the files of the package that are loaded by the imports of scripts."""
    code = {path.name: imports_of(path) for path in SCRIPTS}
    done = subprocess.run(
        [sys.executable, "-c", LOADER],
        input=json.dumps(code),
        env=os.environ | {"PYTHONPATH": str(ROOT / "workflow")},
        capture_output=True,
        text=True,
        check=True,
    )
    found = map(json.loads, done.stdout.splitlines())
    return {name: {str(Path(file).relative_to(ROOT)) for file in files} for name, files in found}


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_all_that_a_script_loads_is_among_its_files(script: Path) -> None:
    computed = set(code_of(ROOT, script.relative_to(ROOT)))
    assert f"workflow/scripts/{script.name}" in computed
    assert "workflow/copycost/snakefile/logs.py" in loaded()[script.name]
    assert loaded()[script.name] <= computed


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A checkout of a few files, for a test to add to."""
    (tmp_path / "workflow/copycost/room").mkdir(parents=True)
    (tmp_path / "workflow/schemas").mkdir()
    for name in ("", "room/"):
        (tmp_path / f"workflow/copycost/{name}__init__.py").touch()
    return tmp_path


def put(package: Path, **modules: str) -> None:
    for name, text in modules.items():
        (package / f"workflow/copycost/room/{name}.py").write_text(text)


def needed(package: Path, start: str) -> set[str]:
    """Return what a module needs of its room, without the files of packages."""
    files = code_of(package, f"workflow/copycost/room/{start}.py")
    return {Path(file).name for file in files} - {"__init__.py"}


@pytest.mark.parametrize(
    "text",
    [
        "import copycost.room.b",
        "from copycost.room import b",
        "from copycost.room.b import something",
        "def f():\n    from copycost.room.b import something\n",
        "from copycost.room import (  # why\n    other,\n    b as c,\n)\n",
        "import json as j, copycost.room.b as b\n",
        "import copycost.room.c",
    ],
)
def test_imports_are_followed_wherever_they_stand(package: Path, text: str) -> None:
    put(package, a=text, b="import copycost.room.a\n", c="from copycost.room.b import x\n", d="")
    assert {"a.py", "b.py"} <= needed(package, "a")
    assert "d.py" not in needed(package, "a")


def test_schemas_and_files_beside_a_module_count_where_it_names_them(package: Path) -> None:
    (package / "workflow/schemas/record.schema.yaml").touch()
    (package / "workflow/copycost/room/flame.js").touch()
    text = '"""Of other.schema.yaml and flame.js."""\n'
    put(package, a=f"{text}import copycost.room.b", b="X = 'record.schema.yaml', 'flame.js'")
    assert needed(package, "a") == {"a.py", "b.py", "record.schema.yaml", "flame.js"}
    put(package, c=text)
    assert needed(package, "c") == {"c.py"}


def test_a_digest_follows_names_and_contents(package: Path) -> None:
    digests = set()
    for modules in ({"a": "1"}, {"a": "2"}, {"b": "1"}, {"b": "2"}):
        put(package, **modules)
        dependencies._file_digest.cache_clear()
        digests.add(dependencies.digest_of_modules(package, "room/*"))
    assert len(digests) == 4
