"""Which state of copycost measures."""

import subprocess
from pathlib import Path


def commit_of_checkout() -> str | None:
    """Return the git commit of this checkout, None outside of a clone."""
    command = ["git", "rev-parse", "HEAD", "--show-prefix"]
    here = Path(__file__).parent
    try:
        done = subprocess.run(
            command, cwd=here, capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return None
    commit, _, prefix = done.stdout.strip().partition("\n")
    # an unpacked archive may lie within somebody else's repository
    return commit if done.returncode == 0 and prefix == "workflow/copycost/measure/" else None
