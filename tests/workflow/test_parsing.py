"""Reading the Snakefile, which every job that runs elsewhere does too, changes nothing."""

import hashlib
import json
from pathlib import Path

import pytest
from workflow.support import Checkout, new_checkout, put_first

from copycost.hosts.facts.identity import host_identity

# How Snakemake starts a job in a process of its own, be it here or on another machine (9.27).
JOB = ["--force", "--no-hooks", "--nolock", "--ignore-incomplete", "--cores", "1"]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with results of another host, and with those of a study that is not enabled."""
    checkout = new_checkout(tmp_path / "checkout")
    host = checkout.path / "results" / "host.json"
    host.parent.mkdir()
    host.write_text(json.dumps({"identity": host_identity() | {"kernel_release": "5.10-test"}}))
    facts = checkout.path / "results" / "datagrams" / "facts.json"
    facts.parent.mkdir()
    facts.write_text("{}")
    return checkout


def files(checkout: Checkout) -> dict[str, tuple[int, str]]:
    """Return time and digest of every file, but for those of Snakemake and Python themselves."""
    own = (".snakemake", "__pycache__")
    return {
        str(path.relative_to(checkout.path)): (
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in checkout.path.rglob("*")
        if path.is_file() and not any(part in own for part in path.parts)
    }


@pytest.mark.parametrize("words", [["--summary"], ["-n", "datagrams", "report"]], ids=" ".join)
def test_looking_changes_no_file(checkout: Checkout, words: list[str]) -> None:
    before = files(checkout)
    checkout.snakemake(*words)
    assert files(checkout) == before


def test_a_job_s_own_command_line_changes_what_it_makes_and_no_more(checkout: Checkout) -> None:
    before = files(checkout)
    job = ["--target-jobs", "save_config:", "--mode", "subprocess", *JOB]
    done = checkout.snakemake(*job)
    after = files(checkout)
    assert after.items() >= before.items()
    assert after.keys() - before.keys() == {"results/config.yaml", "results/logs/save_config.log"}
    assert "this is not the host" not in done.stderr


@pytest.fixture
def _slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster of a node in two partitions."""
    nodes = "'n1|usual*|2|idle|3:00|(null)' 'n1|site|2|idle|5:00|(null)'"
    put_first(monkeypatch, tmp_path / "sinfo", f"printf '%s\\n' {nodes}")
    put_first(monkeypatch, tmp_path / "scontrol", "")


@pytest.mark.usefixtures("_slurm")
def test_what_an_input_function_refuses_is_one_sentence(checkout: Checkout) -> None:
    chosen = ["--config", "hosts={where: [slurm], slurm: {nodes: [n9]}}"]
    done = checkout.snakemake("fleet", "-n", *chosen, check=False)
    assert done.returncode == 1
    said = "config.yaml: hosts.slurm.nodes: n9 not among what sinfo shows of the default partition"
    assert done.stdout == f"copycost: {said} (n1)\n"
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("_slurm")
@pytest.mark.parametrize(
    ("named", "asked", "limit_min"), [("auto", "site", 5), ("usual", "usual", 3)]
)
def test_a_sites_own_partition_holds_unless_another_is_named(
    checkout: Checkout, named: str, asked: str, limit_min: int
) -> None:
    checkout.configure("hosts", where=["slurm"], slurm={"partition": named, "nodes": ["n1"]})
    site = ["--default-resources", "slurm_partition=site"]
    said = checkout.dry("results/nodes/n1.zip", "--quiet", "host", *site).stdout
    assert f"slurm_partition={asked}, " in said
    assert f"runtime={limit_min}, " in said
    assert "slurm_extra=--nodelist=n1 --exclusive" in said
