"""The first file system of a simulated guest: our orchestrator, and the tools of its testbeds."""

from collections.abc import Iterable
from pathlib import Path

from copycost.errors import Unavailable
from copycost.hosts.guest.archive import libraries_of
from copycost.hosts.guest.image import GuestImage
from copycost.hosts.guest.kernel import Kernel, Modules
from copycost.testbeds.drop_hook import drop_rules
from copycost.testbeds.links import veth_pair_commands
from copycost.testbeds.on_host import ADDRESSES, LARGEST_MTU_BYTES

INIT = Path(__file__).with_name("init.sh")
DRIVERS = ("veth", "nf_tables")
"""What the testbed `sink` needs of the kernel."""

# What that needs besides on some kernels: the checksum that libcrc32c asks for by a name that only
# modprobe knows, a module where it is not built in; and the counter of what was dropped, since
# Linux 6.2 a part of nf_tables (commit d037abc2414b).
_BEFORE, _BEHIND = "crc32c_generic", "nft_objref"

TOOLS = ("ip", "nft")
"""Programs of this host that make the testbeds in it."""


def drivers_of(modules: Modules) -> list[str]:
    """Return what of a kernel's modules is loaded, in this order."""
    names = (_BEFORE, *DRIVERS, _BEHIND)
    return [name for name in names if name in DRIVERS or modules.has(name)]


def simulated_image(kernel: Kernel, orchestrator: Path, programs: Iterable[Path]) -> GuestImage:
    """Return the file system of a guest in which simulated_cell, the orchestrator, runs.

    It has the libraries of senders and receivers, which are handed over with each cell. Unavailable
    if a tool, a library or a driver is missing here.
    """
    image = GuestImage(kernel, drivers_of(kernel.modules), INIT)
    image.add_tools(TOOLS)
    missing = [name for name in TOOLS if not image.has(f"/usr/bin/{name}")]
    if missing:
        raise Unavailable(
            f"the command {missing[0]} was not found", "install the packages iproute2 and nftables"
        )
    image.add_program(orchestrator, "/usr/bin/simulated_cell")
    for library in {path for program in programs for path in libraries_of(program)}:
        if not image.has(library):
            image.add_copy(Path(library))
    links = veth_pair_commands(ADDRESSES, "receiver", LARGEST_MTU_BYTES, static_neighbours=True)
    for side, commands in zip(("sender", "receiver"), links, strict=True):
        text = "".join(f"{command}\n" for command in commands)
        image.add(f"/etc/links_{side}", text.encode())
    image.add("/etc/drop_hook", drop_rules("receiver", ADDRESSES[1]).encode())
    return image
