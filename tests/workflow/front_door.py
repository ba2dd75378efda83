"""`./run` in a tree of its own, with a Python that only takes notes."""

import hashlib
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest
from programs import add_program

ROOT = Path(__file__).parents[2]

# The longest that a test waits for anything [s].
LIMIT_S = 120.0

# Everything that `run` itself takes from the system, besides what it looks for.
TOOLS = ["bash", "cat", "dirname", "env", "ln", "readlink", "rm", "setpriv", "true"]

# Stands for .venv/bin/python: the front door itself is real; what it starts is noted, and the
# exit codes are the test's.
PYTHON = """\
#!/bin/bash
if [[ $3 == door ]]; then exec "$REAL_PYTHON" "$@"; fi
if [[ $1 == -SP ]]; then shift 2; set -- -m "$@"; fi
echo "$*" >>"$TREE/calls"
case $2 in
pip | uv) if [[ -n ${FAILS:-} && $2 == "$FAILS" ]]; then exit 1; fi ;;
snakemake) if [[ -n ${HANG:-} ]]; then echo $$ >"$TREE/pid"; exec hang; fi ;;&
snakemake) if [[ -n ${SET_ASIDE:-} ]]; then echo "$SET_ASIDE" >>"$TREE/results/aside/README"; fi ;;&
snakemake) exit "${SNAKEMAKE_EXIT:-0}" ;;
copycost.snakefile.retry) ;;
"import sys"* | copycost | tools.bench) ;;
copycost.snakefile.failed_nodes) ;;
copycost.config.sources) if [[ $3 == --places ]]; then echo "${PLACES:-local}"; fi ;;&
copycost.config.sources) if [[ $3 == *broken* ]]; then exit 1; fi ;;
*) echo "unexpected: $*" >&2; exit 99 ;;
esac
"""


@dataclass
class Tree:
    """A copy of the front door with a Python that only takes notes, and a PATH of its own."""

    path: Path
    tools: Path

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.call([str(self.path / "run"), *arguments], **environment)

    def call(self, command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            env=self.variables() | environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )

    def variables(self) -> dict[str, str]:
        return {
            "PATH": str(self.tools),
            "TREE": str(self.path),
            "TOOLS": str(self.tools),
            "REAL_PYTHON": sys.executable,
            "LC_ALL": "C",
        }

    def calls(self) -> list[str]:
        notes = self.path / "calls"
        return notes.read_text().splitlines() if notes.exists() else []

    def add_tool(self, name: str, script: str) -> None:
        add_program(self.tools / name, "#!/bin/bash\n" + textwrap.dedent(script))

    def stamp(self, lock: str = "requirements") -> None:
        """Mark the environment as whole, as `run` does."""
        digest = hashlib.sha256((self.path / f"envs/{lock}.txt").read_bytes()).hexdigest()
        python = (self.path / ".venv/bin/python").resolve()
        (self.path / f".venv/{lock}.stamp").write_text(f"{digest}  - {python} {self.path}\n")


def as_somebody() -> list[str]:
    """Return the words before a command that take its being root away."""
    words = [shutil.which("unshare") or "unshare", "--user", "--map-user=1000"]
    try:
        subprocess.run([*words, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this host allows no user namespace")
    return words


def new_tree(tmp_path: Path) -> Tree:
    """Copy the front door to where nothing is missing."""
    path = tmp_path / "tree with space"
    (path / "envs").mkdir(parents=True)
    shutil.copy2(ROOT / "run", path / "run")
    for name in ("Snakefile", "pyproject.toml", "src", "tests", "tools", "workflow"):
        (path / name).symlink_to(ROOT / name)
    (path / "config").mkdir()
    (path / "config/tiny.yaml").touch()
    for lock in ("requirements", "requirements-dev", "uv"):
        (path / f"envs/{lock}.txt").write_text("# nothing to fetch\n")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(shutil.which(name) or pytest.skip(f"no {name} on this host"))
    tree = Tree(path, tools)
    for name in ("cc", "perf", "ip", "ethtool", "iperf3", "nft"):
        tree.add_tool(name, "exit 0")
    add_program(path / ".venv/bin/python", PYTHON)
    tree.stamp()
    return tree
