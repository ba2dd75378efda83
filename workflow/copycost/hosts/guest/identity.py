"""What must stay the same for guests to be made of the same."""

import sys
from pathlib import Path

from copycost.hosts.facts.tools import describe_tool
from copycost.hosts.guest.build_image import TOOLS
from copycost.hosts.guest.libraries import symbols_of
from copycost.hosts.guest.qemu import PROGRAM


def guest_identity() -> dict[str, object]:
    """Return versions of what guests are made with and of; None for what is not there."""
    release = Path("/proc/sys/kernel/osrelease").read_text().strip()
    return {
        "python": sys.version,
        "host_kernel": release,
        "c_library_symbols": str(symbols_of(Path(sys.executable))),
        **{f"{name}_version": describe_tool(name).version for name in (PROGRAM, "busybox", *TOOLS)},
    }
