"""The real workflow of simulated counts: a guest saved once, cells in copies, tables and facts."""

import hashlib
import json
import shutil

import guests
import pytest
from workflow.support import Checkout

TINY = ("--configfile", "config/tiny.yaml")
RAW = "results/raw/simulated"


@pytest.fixture
def checkout(built: Checkout) -> Checkout:
    return built


def digests(checkout: Checkout) -> dict[str, str]:
    """Return the digest of every record of simulated counts."""
    root = checkout.path / RAW
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*.json")
    }


@pytest.mark.needs_guests
@pytest.mark.slow
def test_two_runs_write_the_same_files(checkout: Checkout) -> None:
    checkout.configure("virtual", kernel=str(guests.kernel().image))
    checkout.snakemake("--cores", "1", "simulated", *TINY)
    facts = json.loads((checkout.path / "results/simulated/facts.json").read_text())
    found = [json.loads(path.read_text()) for path in (checkout.path / RAW).rglob("*.json")]
    reasons = {record["reason"] for record in found if record["status"] != "measured"}
    assert (facts["n_counted"], facts["n_cells"]) == (6, 6), reasons
    assert facts["walks"]["n_right"] == facts["walks"]["n"]
    (condition,) = facts["conditions"]
    assert {one["implementation"] for one in condition["savings"]} == {"one_copy", "zero_copy"}
    assert (checkout.path / "results/tables/simulated.csv").is_file()
    assert not (checkout.path / "results/simulated/guests/plain").exists()
    first = digests(checkout)
    shutil.rmtree(checkout.path / RAW)
    again = min(first)  # without the others, tables and figures
    checkout.snakemake("--cores", "1", f"{RAW}/{again}", *TINY)
    assert digests(checkout) == {again: first[again]}
