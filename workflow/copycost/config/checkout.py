"""Where this checkout is, and which commit and version of copycost it is."""

import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[3]
"""The checkout."""

SCHEMAS = ROOT / "workflow" / "schemas"
"""The folder of the schemas of configuration and records."""

SOURCES = ("Snakefile", "config.yaml", "config", "data", "envs", "profiles", "pyproject.toml",
           "report", "run", "src", "workflow")  # fmt: skip
"""What another folder or host needs of it: all but the environment and the results."""

_TIMEOUT_S = 10.0


def version() -> str:
    """Return the version of copycost, which pyproject.toml states."""
    project = ROOT / "pyproject.toml"
    if not project.is_file():  # installed without its checkout
        return metadata.version("copycost")
    return str(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"])


def current_commit() -> str | None:
    """Return the git commit of this checkout, None outside of a clone."""
    command = ["git", "rev-parse", "HEAD", "--show-prefix"]
    here = ROOT / "workflow" / "copycost"
    try:
        done = subprocess.run(
            command, cwd=here, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.SubprocessError):
        return None
    commit, _, prefix = done.stdout.strip().partition("\n")
    # an unpacked archive may lie within somebody else's repository
    return commit if done.returncode == 0 and prefix == "workflow/copycost/" else None
