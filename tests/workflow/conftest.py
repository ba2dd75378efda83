"""One whole run of the workflow, which many tests look at or begin with a copy of."""

import fcntl
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from workflow.front_door import Tree, new_tree
from workflow.support import Checkout, new_checkout

# Each takes the better part of a minute, and needs no whole run: begun last, they would keep one
# process busy when the others have nothing left, and begun first they leave the whole run to those.
LONGEST = ("test_virtual", "test_soak", "test_interrupts", "test_simulated")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, in which order `--no-loadscope-reorder` begins them."""
    here = Path(__file__).parent
    order = {here / f"{name}.py": number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path, len(LONGEST)))


@dataclass(frozen=True)
class WholeRun:
    """A checkout in which everything was measured and reported, and what was said meanwhile."""

    checkout: Checkout
    said: str


@pytest.fixture(scope="session")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> WholeRun:
    """Run once, whichever of pytest's processes is the first to need it."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # common to all workers
    checkout, said = Checkout(folder / "whole_run"), folder / "whole_run.txt"
    with (folder / "whole_run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not said.exists():
            assert not checkout.path.exists(), "the whole run failed in another process"
            said.write_text(new_checkout(checkout.path).noted("--cores", "2"), encoding="utf-8")
    return WholeRun(checkout, said.read_text(encoding="utf-8"))


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout in which nothing was done yet."""
    return new_checkout(tmp_path / "checkout")


@pytest.fixture
def finished(whole_run: WholeRun, tmp_path: Path) -> Checkout:
    """A copy of the checkout in which everything was measured, for a test to edit."""
    return whole_run.checkout.copy(tmp_path / "checkout")


@pytest.fixture
def built(finished: Checkout) -> Checkout:
    """A checkout in which the programs are built and the host is described, and no more."""
    return only_built(finished)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A front door that lacks nothing, with a Python that only takes notes."""
    return new_tree(tmp_path)


def only_built(checkout: Checkout) -> Checkout:
    """Forget everything but the programs and the description of the host."""
    for path in (checkout.path / "results").iterdir():
        if path.name in ("bin", "host.json"):
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    return checkout
