"""The workflow as Snakemake sees it: linted, in odd folders, and beside a measurement."""

import subprocess
import sys
from pathlib import Path

import pytest
from workflow.support import ROOT, Checkout, new_checkout

from tools.soak.__main__ import give_environment

# Lints that do not apply, each with the reason.
ALLOWED = {
    # One locked environment (envs/) serves all rules, and measuring needs the host's own perf, ip
    # and compiler: a container would measure with other tools than the host's.
    "Specify a conda environment or container for each rule."
}


def test_the_linter_finds_nothing_but_what_is_allowed(checkout: Checkout) -> None:
    done = checkout.snakemake("--lint", check=False)
    found = {line.strip(" *") for line in done.stderr.splitlines() if line.startswith("    * ")}
    assert found == {f"{lint}:" for lint in ALLOWED}, done.stderr


def test_folders_with_spaces_and_umlauts_are_as_good_as_others(tmp_path: Path) -> None:
    checkout = new_checkout(tmp_path / "für später")
    give_environment(checkout.path)
    made = ["results/config.yaml", "results/bin/memory_floor"]
    command = [checkout.path / ".venv/bin/python", "-m", "snakemake", "--cores", "1", *made]
    checkout.call(command, LC_ALL="C", HOME="/nonexistent")
    assert all((checkout.path / name).is_file() for name in made)


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
    keep_the_scheduler_still(workflow)

onsuccess:
    waiting = [one for one in threading.enumerate() if isinstance(one, threading.Timer)]
    print("timers", len(waiting))
"""


@pytest.mark.slow
def test_scheduler_is_not_woken_again_and_again(tmp_path: Path) -> None:
    """Without the hook each job adds a timer."""
    (tmp_path / "Snakefile").write_text(_SNAKEFILE)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--scheduler", "greedy"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "timers 0\n" in done.stdout
