"""What tests of real measurements share: a bench, another machine, and what is known of it."""

import shutil
from collections.abc import Iterator
from typing import Any

import guests
import pytest
import sshd
from measured.failures_support import Bench, new_bench
from sshd import Peer

from copycost.cli.doctor.peer import collect_peer
from copycost.config.wire import Wire

our_daemon = pytest.fixture(scope="module")(guests.run_of_our_own)


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    with sshd.peer(tmp_path_factory.mktemp("peer")) as made:
        yield made


@pytest.fixture
def bench() -> Iterator[Bench]:
    with new_bench() as bench:
        bench.write_host(shutil.which("perf"))
        yield bench


@pytest.fixture(scope="module")
def facts(our_daemon: None, peer: Peer) -> dict[str, Any]:
    return collect_peer(Wire(peer.target.name, "auto", peer.target.options))
