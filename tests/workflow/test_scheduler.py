"""Snakemake's own work beside a measurement."""

import subprocess
import sys
from pathlib import Path

import pytest
from workflow.support import ROOT

_N_JOBS = 12

_SNAKEFILE = f"""
import sys, threading
sys.path.insert(0, {str(ROOT / "workflow")!r})
from copycost.snakefile.internals import keep_the_scheduler_still

rule all:
    input: expand("{{n}}", n=range({_N_JOBS}))

rule one:
    output: "{{n}}"
    threads: workflow.cores
    shell: "touch {{output}}"

onstart:
    HOOK

onsuccess:
    waiting = [one for one in threading.enumerate() if isinstance(one, threading.Timer)]
    print("timers", len(waiting))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hook", "still"), [("keep_the_scheduler_still(workflow)", True), ("pass", False)]
)
def test_scheduler_is_not_woken_again_and_again(tmp_path: Path, hook: str, still: bool) -> None:
    """Without the hook each job adds a timer; should that change, the hook may go."""
    (tmp_path / "Snakefile").write_text(_SNAKEFILE.replace("HOOK", hook))
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--scheduler", "greedy"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    n_timers = int(done.stdout.split("timers")[1].split()[0])
    assert (n_timers == 0) == still
