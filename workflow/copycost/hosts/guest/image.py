"""The first file system of a guest: an archive that the kernel unpacks into memory.

`GuestImage` gathers what is in it; `agent_image` is that of guests which an agent serves, and
others put together what they need by the same steps.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from copycost.errors import Unavailable
from copycost.hosts.facts.tools import describe_tool
from copycost.hosts.guest.archive import Archive, libraries_of, symbols_of
from copycost.hosts.guest.kernel import Kernel
from copycost.hosts.local import LocalHost
from copycost.hosts.remote.bundle import agent_modules

INIT = Path(__file__).with_name("init.sh")
AGENT = Path(__file__).with_name("agent.sh")
CONSOLE_DRIVERS = ("virtio_pci", "virtio_console")
"""What the line to the agent needs."""

_FOLDERS = ("/proc", "/sys", "/dev", "/tmp", "/root", "/run", "/var/tmp")
# files of the kernel below /proc/sys, and what is written there
_SETTINGS = {
    "net/core/optmem_max": "131072",
    # who measures as root counts everything
    "kernel/perf_event_paranoid": "-1",
    "kernel/kptr_restrict": "0",
    # a guest without memory ends, and says so on its console
    "vm/panic_on_oom": "1",
}


class GuestImage(Archive):
    """A file system that is being put together, for a kernel that boots it.

    The drivers are loaded in their order, each behind what it depends on; `init` is the first
    process, a script of busybox's shell.
    """

    def __init__(self, kernel: Kernel, drivers: Sequence[str], init: Path = INIT) -> None:
        super().__init__()
        self.tools: list[str] = []
        for folder in _FOLDERS:
            self.add_folder(folder)
        self.add("/init", init.read_bytes(), 0o755)
        self.add("/bin/busybox", find_busybox().read_bytes(), 0o755)
        for name in ("sh", "kill", "sleep", "uname", "cat"):
            self.add_link(f"/bin/{name}", "busybox")
        modules = kernel.modules.in_loading_order(drivers)
        for name, content in modules:
            self.add(f"/modules/{name}.ko", content)
        order = "".join(f"{name}\n" for name, _ in modules)
        self.add("/modules/order", order.encode())
        settings = "".join(f"{path} {value}\n" for path, value in _SETTINGS.items())
        self.add("/etc/settings", settings.encode())
        self.add("/etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n")
        config = kernel.image.with_name(f"config-{kernel.release}")
        if config.exists():
            self.add(f"/boot/{config.name}", config.read_bytes())

    def add_tools(self, names: Iterable[str]) -> None:
        """Add programs of the host's own with their libraries; those that it lacks stay away."""
        for name in names:
            found = describe_tool(name).path
            if found is not None:
                self.add_program(Path(found).resolve(), f"/usr/bin/{name}")
                self.tools.append(name)


def agent_image(kernel: Kernel, drivers: Sequence[str], tools: Iterable[str]) -> GuestImage:
    """Return the file system of a guest that an agent serves.

    The drivers are those besides the ones of the agent's line; tools that this host lacks are left
    out.
    """
    image = GuestImage(kernel, (*CONSOLE_DRIVERS, *drivers))
    image.add_tools(tools)
    image.add("/agent.sh", AGENT.read_bytes(), 0o755)
    modules = agent_modules()
    for inside, path in modules.items():
        image.add_module(path, f"/copycost/{inside}")
    image.add_python(modules.values())
    # the application copies by functions of the C library, which a profile has to name
    if symbols := symbols_of(Path(sys.executable)):
        image.add_copy(symbols)
    return image


def find_busybox() -> Path:
    """Return busybox; Unavailable if there is none, or not the static one."""
    found = LocalHost().find_tool("busybox")
    if found is None or libraries_of(Path(found)):
        raise Unavailable(
            "there is no static busybox here" if found is None else f"{found} is not static",
            "install the package busybox-static",
        )
    return Path(found)
