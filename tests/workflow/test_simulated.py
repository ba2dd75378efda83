"""The real workflow of simulated counts: a guest saved once, cells in copies, tables and facts."""

import hashlib
import json
import shutil

import guests
import pytest
from workflow.support import Checkout

TINY = ("--configfile", "config/tiny.yaml")
RAW = "results/raw/simulated"


def digests(checkout: Checkout) -> dict[str, str]:
    """Return the digest of every record of simulated counts."""
    root = checkout.path / RAW
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*.json")
    }


@pytest.mark.needs_guests
@pytest.mark.slow
def test_two_runs_write_the_same_files(built: Checkout) -> None:
    built.configure("virtual", kernel=str(guests.kernel().image))
    # the guest is kept for the second run; that another boot of it counts the same is shown in
    # tests/measured/test_simulation.py
    built.snakemake("--cores", "1", "--notemp", "simulated", *TINY)
    facts = json.loads((built.path / "results/simulated/facts.json").read_text())
    found = [json.loads(path.read_text()) for path in (built.path / RAW).rglob("*.json")]
    reasons = {record["reason"] for record in found if record["status"] != "measured"}
    assert (facts["n_counted"], facts["n_cells"]) == (6, 6), reasons
    assert facts["walks"]["n_right"] == facts["walks"]["n"]
    (condition,) = facts["conditions"]
    assert {one["implementation"] for one in condition["savings"]} == {"one_copy", "zero_copy"}
    assert (built.path / "results/tables/simulated.csv").is_file()
    first = digests(built)
    shutil.rmtree(built.path / RAW)
    again = min(first)  # without the others, tables and figures
    built.snakemake("--cores", "1", f"{RAW}/{again}", *TINY)
    assert digests(built) == {again: first[again]}
    assert not (built.path / "results/simulated/guests/plain").exists()
