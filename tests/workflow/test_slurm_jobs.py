"""What Slurm is asked for: the job of a node, as sbatch is told it."""

from pathlib import Path

import pytest
from workflow.support import Checkout, put_first

SLURM = {
    "sinfo": "printf '%s\\n' 'n1|usual*|2|idle|3:00|(null)' 'n1|site|2|idle|5:00|(null)'",
    "sbatch": 'echo "$@" >asked; exit 1',
    **dict.fromkeys(("scontrol", "sacct", "sacctmgr", "sshare", "squeue"), "echo me"),
}


@pytest.mark.parametrize(
    ("named", "asked", "limit_min"), [("auto", "site", 5), ("usual", "usual", 3)]
)
def test_a_sites_own_partition_holds_unless_another_is_named(
    checkout: Checkout,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    named: str,
    asked: str,
    limit_min: int,
) -> None:
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="./run setup slurm adds it")
    checkout.configure("hosts", where=["slurm"], slurm={"partition": named, "nodes": ["n1"]})
    for name, script in SLURM.items():
        put_first(monkeypatch, tmp_path / "bin" / name, script)
    site = ["--default-resources", "slurm_partition=site", "slurm_account=me"]
    soon = ["--slurm-init-seconds-before-status-checks", "1"]
    executor = ["--executor", "slurm", *soon, "--jobs", "1"]
    command = checkout.command("results/nodes/n1.zip", *executor, *site)
    checkout.call(command, check=False)
    said = (checkout.path / "asked").read_text()
    assert f"-p {asked} " in said
    assert f"-t {limit_min} " in said
