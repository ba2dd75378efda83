"""One whole run of the workflow, which several tests look at."""

import subprocess
from dataclasses import dataclass

import pytest
from workflow.support import Checkout, new_checkout


@dataclass(frozen=True)
class WholeRun:
    """A checkout in which everything was measured and reported, and what was said meanwhile."""

    checkout: Checkout
    done: subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> WholeRun:
    """Run once; tests that edit the checkout take a copy."""
    checkout = new_checkout(tmp_path_factory.mktemp("whole_run") / "checkout")
    return WholeRun(checkout, checkout.snakemake("--cores", "2"))
