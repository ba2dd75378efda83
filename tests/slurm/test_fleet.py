"""A fleet on a real Slurm of two nodes: one's job cancelled, gone on with, reported."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from workflow.support import ROOT, Checkout, clean_environment, new_checkout

CLUSTER = ROOT / "tests" / "slurm" / "cluster.sh"
NEEDED = ("slurmctld", "slurmd", "munged", "sinfo", "sbatch", "unshare")
LIMIT_S = 1500.0
N_RECORDS = 4 * 5

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs_slurm,
    pytest.mark.skipif(
        any(shutil.which(name) is None for name in NEEDED),
        reason="no Slurm here; apt-get install slurmctld slurmd slurm-client munge",
    ),
]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    made = new_checkout(tmp_path / "checkout")
    (made.path / ".venv").symlink_to(Path(sys.prefix))
    made.configure("measure", repetitions=5)
    made.configure("hosts", where=["slurm"])
    made.configure("hosts", slurm={"partition": "all", "nodes": [], "count": 2,
                                   "constraint": "none"})  # fmt: skip
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="./run setup slurm adds it")
    return made


def command(checkout: Checkout, script: str) -> "subprocess.Popen[str]":
    """Start a script within the cluster."""
    folder = checkout.path.parent
    (folder / "nodes").mkdir(exist_ok=True)
    return subprocess.Popen(
        [CLUSTER, folder / f"cluster{time.monotonic_ns()}", "bash", "-c", script],
        cwd=checkout.path,
        env=clean_environment() | {"TMPDIR": str(folder / "nodes"), "FLEET": _fleet()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _fleet() -> str:
    words = ["-SP", "workflow/copycost/door/launch.py", "snakemake", "--profile",
             "workflow/profiles/slurm", "--cores", "1", "--", "fleet"]  # fmt: skip
    return " ".join([sys.executable, *words])


def finish(running: "subprocess.Popen[str]") -> str:
    """Wait for a script's end; return what it said."""
    try:
        said, _ = running.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        said, _ = running.communicate()
        pytest.fail(f"no end after {LIMIT_S:.0f} s:\n{said}")
    return said


def wait_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT_S
    while not what():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.2)


def measured(archive: Path) -> dict[str, int]:
    """Return the start of each repetition in an archive [ns]."""
    with zipfile.ZipFile(archive) as files:
        names = [name for name in files.namelist() if name.startswith("raw/")]
        return {name: json.loads(files.read(name))["start_ns"] for name in names}


def test_a_cancelled_node_brings_its_part_back_and_goes_on(checkout: Checkout) -> None:
    nodes, scratch = checkout.path / "results" / "nodes", checkout.path.parent / "nodes"

    def n_there(node: str) -> int:
        return len(list(scratch.glob(f"copycost_*_{node}/results/raw/**/rep=*.json")))

    # what is asked of Slurm by comment is the job of one node
    cancel = "squeue -h -o '%i %N' | awk '$2 == \"n1\" {print $1}' | xargs -r scancel"
    (checkout.path / "cancel").write_text("")
    running = command(
        checkout,
        "($FLEET; echo ended $?) & while [[ ! -s cancel ]] && kill -0 $!; do sleep 0.2; done; "
        f"{cancel}; wait",
    )
    wait_for(lambda: n_there("n1") >= 3 or running.poll() is not None)
    (checkout.path / "cancel").write_text("now")
    said = finish(running)
    assert "ended 1" in said, said
    part, whole = measured(nodes / "n1.part.zip"), measured(nodes / "n2.zip")
    assert 3 <= len(part) < N_RECORDS, said
    assert len(whole) == N_RECORDS

    said = finish(command(checkout, "$FLEET; echo ended $?"))
    assert "ended 0" in said, said
    again = measured(nodes / "n1.zip")
    assert len(again) == N_RECORDS
    assert {name: again[name] for name in part} == part, "what was measured is not measured again"
    assert measured(nodes / "n2.zip") == whole
    assert not (nodes / "n1.part.zip").exists()
    html = (checkout.path / "results" / "fleet" / "report" / "report.html").read_text()
    assert "What follows is of 2 hosts" in html
    assert {path.name for path in (checkout.path / "results/fleet").glob("host=*")} == {
        "host=n1", "host=n2",
    }  # fmt: skip
