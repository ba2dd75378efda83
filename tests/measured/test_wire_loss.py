"""A network that loses packets: what the accounts of both protocols say of it."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import guests
import pytest
import sshd
from measured.test_wire import STREAM, measured, rules
from sshd import Peer

from copycost.config.cells import Cell
from copycost.config.wire import Wire
from copycost.doctor.peer import collect_peer
from copycost.observers.loss_counters import LossCounters
from copycost.observers.process_usage import ProcessUsage
from copycost.records.derive import derive_row
from copycost.studies.datagrams import table as datagrams

pytestmark = pytest.mark.needs_root

our_daemon = pytest.fixture(scope="module", autouse=True)(guests.run_of_our_own)
peer = pytest.fixture(scope="module")(sshd.lent_peer)


@pytest.fixture(scope="module")
def facts(peer: Peer) -> dict[str, Any]:
    return collect_peer(Wire(peer.target.name, "auto", peer.target.options))


@contextmanager
def one_in_fifty_lost(peer: Peer, protocol: str) -> Iterator[Callable[[], int]]:
    """Have the network lose packets, counted by nobody but us; yield what tells how many."""
    rule = f"meta l4proto {protocol} numgen inc mod 50 == 49 counter drop"
    chain = "chain i { type filter hook ingress device receiver priority 0; }"
    done = peer.there.run(
        ["nft", "-f", "-"], f"table netdev lossy {{ {chain}; }}\nadd rule netdev lossy i {rule}\n"
    )
    if done.returncode != 0:
        pytest.skip(f"no packets can be lost here: {done.stderr}")
    try:
        yield lambda: int(str(re.search(r"counter packets (\d+)", rules(peer))[1]))  # type: ignore[index]
    finally:
        peer.there.run(["nft", "delete", "table", "netdev", "lossy"])


def test_datagrams_that_the_network_loses_are_explained_by_neither_machine(
    tmp_path: Path, peer: Peer, facts: dict[str, Any]
) -> None:
    limited = {**facts, "wire": {**facts["wire"], "udp_mbit_per_s": 40}}
    cell = Cell("datagrams", "wire_udp", "two_copy", 1400, 1)
    with one_in_fifty_lost(peer, "udp") as lost:
        record = measured(tmp_path, cell, limited, ProcessUsage(), LossCounters())
        n_lost = lost()
    assert record["status"] == "measured", record["reason"]
    row = datagrams.row_of(record, cell)
    assert n_lost > 10
    # welcomes and goodbyes that are lost are said again
    assert n_lost - 2 <= row["lost_unaccounted"] <= n_lost
    assert row["lost_device"] == 0


def test_segments_that_the_network_loses_are_sent_again_and_counted(
    tmp_path: Path, peer: Peer, facts: dict[str, Any]
) -> None:
    with one_in_fifty_lost(peer, "tcp") as lost:
        record = measured(tmp_path, STREAM, facts)
        assert lost() > 0
    assert record["status"] == "measured", record["reason"]
    assert derive_row(record)["tcp_retransmits"] > 0  # type: ignore[operator]
