"""A fleet on a real Slurm, as an ordinary user: a job cancelled, a node lost, reported."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from programs import until
from workflow.front_door import Tree
from workflow.support import ROOT, Checkout, clean_environment, new_checkout

from copycost.hosts.lock import host_lock_path
from tools.soak.__main__ import give_environment

CLUSTER = ROOT / "tests" / "slurm" / "cluster.sh"
NEEDED = ("slurmctld", "slurmd", "munged", "sinfo", "sbatch", "unshare")
LIMIT_S = 600.0
N_RECORDS = 8 * 2

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs_slurm,
    pytest.mark.timeout(2 * LIMIT_S),
    pytest.mark.skipif(
        any(shutil.which(name) is None for name in NEEDED),
        reason="no Slurm here; apt-get install slurmctld slurmd slurm-client munge",
    ),
]

# One job is cancelled and one node loses its power, both in the middle. The node comes back, and
# Slurm gives it its job again; for the cancelled one, the same command is given once more.
SCRIPT = """\
./run fleet -n; echo "front door: ended $?"
$FLEET & fleet=$!
until [[ -e now ]]; do kill -0 $fleet || break; sleep 0.1; done
squeue --noheader --states running --format "a job has %m"
squeue --noheader --nodelist n1 --format %i | xargs --verbose scancel
$CLUSTER --crash n2
touch done
until [[ -z $(squeue --noheader --states running --nodelist n2) ]]; do sleep 0.1; done
$CLUSTER --start n2
wait $fleet; echo "first: ended $?"
cp -r results/nodes brought
$FAILED
$FLEET; echo "second: ended $?"
id --user --name
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="./run setup slurm adds it")
    mount = ["unshare", "--user", "--map-root-user", "--mount", "mount", "--make-rprivate", "/"]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("the namespaces of a cluster cannot be made here")
    made = new_checkout(tmp_path / "checkout")
    give_environment(made.path)  # as one that `./run` has made there and goes on with
    Tree(made.path, made.path).stamp("requirements-slurm")
    made.configure("measure", repetitions=2)
    made.configure("hosts", where=["slurm"])
    made.configure("hosts", slurm={"partition": "all", "nodes": [], "count": 3,
                                   "constraint": "none"})  # fmt: skip
    return made


@contextmanager
def started(checkout: Checkout) -> Iterator["subprocess.Popen[str]"]:
    """Start the script within a cluster of three nodes; whatever happens, leave nothing behind."""
    folder = checkout.path.parent
    (folder / "nodes").mkdir()
    fleet = ["-SP", "workflow/copycost/cli/launch.py", "snakemake", "fleet", "--profile",
             "workflow/profiles/slurm", "--cores", "1", "--forcerun", "merge_hosts"]  # fmt: skip
    variables = {
        "TMPDIR": str(folder / "nodes"),
        "FLEET": " ".join([sys.executable, *fleet]),
        "CLUSTER": str(CLUSTER),
        "FAILED": f"env PYTHONPATH=workflow {sys.executable} -m copycost.snakefile.failed_nodes",
    }
    with (folder / "said").open("wb") as said:
        running = subprocess.Popen(
            [CLUSTER, folder / "cluster", "3", "bash", "-c", SCRIPT],
            cwd=checkout.path,
            env=clean_environment() | variables,
            stdout=said,
            stderr=said,
            start_new_session=True,
            text=True,
        )
    try:
        yield running
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def logs(folder: Path) -> str:
    """Return all that was said: by the fleet, on the nodes, by Slurm."""
    places = (
        "said", "cluster/log/*.log", "checkout/.snakemake/slurm_logs/**/*.log",
        "checkout/results/logs/**/nodes/*.log", "checkout/results/logs/fleet/*.log",
    )  # fmt: skip
    files = [path for place in places for path in sorted(folder.glob(place))]
    return "\n".join(
        f"== {path.relative_to(folder)}\n{path.read_text(errors='replace')[-4000:]}"
        for path in files
    )


@contextmanager
def nothing_measured() -> Iterator[None]:
    """Hold the lock that all measurements on this host take, so that none gets on meanwhile."""
    with host_lock_path().open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def start_of(text: str | bytes) -> int:
    """Return the start of the first repetition in a file [ns]."""
    content = json.loads(text)
    return int(content.get("repetitions", [content])[0]["start_ns"])


def lying_on(folder: Path, node: str) -> dict[str, int]:
    """Return the start of each repetition that lies on a node [ns]."""
    found = {}
    for results in folder.glob(f"nodes/copycost_*_{node}/results"):
        for path in results.glob("raw/**/rep=*.json"):
            found[str(path.relative_to(results))] = start_of(path.read_text())
    return found


def measured(archive: Path) -> dict[str, int]:
    """Return the start of each repetition in an archive [ns]."""
    with zipfile.ZipFile(archive) as files:
        names = [name for name in files.namelist() if name.startswith("raw/")]
        return {name: start_of(files.read(name)) for name in names}


def test_what_was_measured_survives_a_cancelled_job_and_a_lost_node(checkout: Checkout) -> None:
    folder = checkout.path.parent
    nodes, brought = checkout.path / "results" / "nodes", checkout.path / "brought"
    with started(checkout) as running:

        def wait_for(what: Callable[[], bool]) -> None:
            until(lambda: what() or running.poll() is not None, LIMIT_S, lambda: logs(folder))
            assert running.poll() is None, f"ended too early\n{logs(folder)}"

        wait_for(lambda: bool(lying_on(folder, "n1")) and bool(lying_on(folder, "n2")))
        with nothing_measured():
            (checkout.path / "now").touch()
            wait_for((checkout.path / "done").exists)
            left = lying_on(folder, "n2")
        assert running.wait(LIMIT_S) == 0, logs(folder)
    said = logs(folder)
    assert "a run would measure 3 nodes (n1, n2, n3), each by one job that has it alone" in said
    assert "front door: ended 0" in said, said
    assert "a job has 1300M" in said, "all that Slurm gives to jobs of a node"
    assert "first: ended 1" in said, said
    assert "second: ended 0" in said, said
    assert (folder / "said").read_text().endswith("\nalice\n"), said

    part = measured(brought / "n1.part.zip")
    assert 1 <= len(part) < N_RECORDS, said
    assert 1 <= len(left) < N_RECORDS, said
    assert f"n1: Slurm ended its job (cancelled); brought {len(part)} of {N_RECORDS} rep" in said
    whole = {name: measured(brought / f"{name}.zip") for name in ("n2", "n3")}
    assert [len(of) for of in whole.values()] == [N_RECORDS, N_RECORDS], said
    assert left.items() <= whole["n2"].items(), "what lay on the node is not measured again"

    again = measured(nodes / "n1.zip")
    assert len(again) == N_RECORDS, said
    assert part.items() <= again.items(), "what was measured is not measured again"
    assert {name: measured(nodes / f"{name}.zip") for name in whole} == whole
    assert not list(nodes.glob("*.part.zip"))
    fleet = checkout.path / "results" / "fleet"
    page = " ".join((fleet / "report" / "report.html").read_text().split())
    assert "share a boot id, so they are one host" in page, "the nodes are on one machine"
    assert {path.name for path in fleet.glob("host=*")} == {"host=n1", "host=n2", "host=n3"}
