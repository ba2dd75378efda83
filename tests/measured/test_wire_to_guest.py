"""Over a wire to a machine with a kernel of its own: a guest in which a real sshd listens.

Its device takes bytes from where they lie, so that what it sends with zero-copy is not copied, as
over a network card.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import guests
import pytest
from measured.repetitions import measured
from programs import until
from sshd import CONFIG, SSHD, need_sshd, new_keys

from copycost.cli.doctor.peer import collect_peer
from copycost.config.cells import Cell
from copycost.config.settings import Settings
from copycost.config.wire import Peer
from copycost.hosts.guest.host import borrowed
from copycost.hosts.guest.image import GuestImage, agent_image
from copycost.hosts.guest.network import ADDRESSES
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import Namespace, NamespaceHost
from copycost.hosts.program import Launch
from copycost.records.derive import derive_row

pytestmark = [
    pytest.mark.usefixtures("our_daemon"),
    pytest.mark.needs_guests,
    pytest.mark.needs_root,
    pytest.mark.slow,
]

SETTINGS = Settings(warmup_s=0.3, duration_s=1.0, congestion_control="reno")
CELL = Cell("streams", "wire_in", "zero_copy", 65536, 1)


def add_sshd(image: GuestImage, folder: Path) -> None:
    """Add a real sshd, with keys made for the test."""
    new_keys(folder)
    image.add_program(Path(SSHD))
    image.add("/etc/ssh/sshd_config", CONFIG.format(folder="/etc/ssh").encode())
    image.add("/etc/ssh/host_key", (folder / "host_key").read_bytes(), 0o600)
    image.add("/etc/ssh/key.pub", (folder / "key.pub").read_bytes())
    image.add("/etc/passwd", b"root:x:0:0::/root:/bin/sh\nsshd:x:9:9::/run/sshd:/bin/no\n")
    image.add_folder("/run/sshd")
    for name in ("mkdir", "mv"):
        image.add_link(f"/bin/{name}", "busybox")


@pytest.fixture
def facts(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The facts of the guest as a peer, while we are in the network that it is in."""
    need_sshd()
    image = agent_image(guests.kernel(), ["virtio_net"], ["ip", "ethtool"])
    add_sshd(image, tmp_path)
    spec = guests.spec_of(image, tmp_path, memory_mib=384)
    options = ("-F", "none", "-i", str(tmp_path / "key"), "-o", "IdentitiesOnly=yes")
    unknown = ("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null")
    with borrowed(spec, ["a"]) as lease:
        (guest,) = lease.hosts
        here = NamespaceHost(LocalHost(), Namespace(lease.network_fd), "the guest's network")
        words = (SSHD, "-D", "-e", "-f", "/etc/ssh/sshd_config")
        sshd = guest.start(Launch(words, SSHD))
        until(lambda: "Server listening" in sshd.errors(), 30.0, sshd.errors)
        with here.inside():
            yield collect_peer(Peer(f"root@{ADDRESSES['a']}", ssh_options=(*options, *unknown)))


def test_zero_copy_of_another_kernel_is_real(tmp_path: Path, facts: dict[str, Any]) -> None:
    assert facts["wire"]["unavailable"] is None, facts["wire"]["unavailable"]
    assert facts["kernel"]["release"] == guests.kernel().release
    assert facts["wire"]["there"]["driver"] == "virtio_net"
    assert facts["wire"]["there"]["scatter_gather"] is True
    row = derive_row(measured(tmp_path, CELL, settings=SETTINGS, peer=facts))
    assert row["zc_completed"] > 0
    assert row["zc_copied"] == 0
