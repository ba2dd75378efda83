"""Another machine for tests, see `another_machine.py`; skipped where there can be none."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from another_machine import ADDRESSES, AHEAD_S, NODE, Peer, another_machine

from copycost.errors import Unavailable

__all__ = ["ADDRESSES", "AHEAD_S", "NODE", "Peer", "lent_peer", "peer"]


@contextmanager
def peer(folder: Path, delay_s: float = 0.0) -> Iterator[Peer]:
    """Build it, and run the block in its neighbour's network."""
    with ExitStack() as stack:
        try:
            made = stack.enter_context(another_machine(folder, delay_s))
        except Unavailable as missing:
            pytest.skip(missing.reason)
        yield made


def lent_peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    """Have it for the tests of a module; a fixture's body."""
    with peer(tmp_path_factory.mktemp("peer")) as made:
        yield made
