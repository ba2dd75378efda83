"""The few facts that tell one host, or one state of it, from another; cheap enough to ask always.

The workflow takes them at the start of every run. Where they differ from those of the last run,
the host is described afresh and every cell is measured again.
"""

import re

from copycost.hosts.facts.cpu import online_cpus, processor_name, read_governor, read_turbo
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.facts.kernel import net_settings
from copycost.hosts.facts.tools import TOOLS, describe_tool
from copycost.hosts.host import Host
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import SWITCHES
from copycost.wording.numbers import format_cpu_list

_NET_SETTINGS = (
    "optmem_max", "rmem_max", "wmem_max", "tcp_rmem", "tcp_wmem", "congestion_default",
)  # fmt: skip


def host_identity(files: HostFiles | None = None, host: Host | None = None) -> dict[str, object]:
    """Return what must stay the same for measurements to be of the same host, by default this one.

    Nothing in it moves by itself (no uptime, no free memory, no clock frequency). It takes a few
    milliseconds; the slowest part is asking tools for their versions. The values are plain JSON,
    None for what a host does not tell; sizes are in bytes.
    """
    host = host or LocalHost()
    files = files or host.files
    about = host.about
    cpuinfo = files.text("proc/cpuinfo") or ""
    online = online_cpus(files)
    proc = "proc/sys/kernel"
    net = net_settings(files)
    status = files.text("proc/self/status") or ""
    capabilities = re.search(r"^CapEff:\s*(\S+)$", status, re.MULTILINE)
    return {
        "kernel_release": files.text(f"{proc}/osrelease"),
        "kernel_version": files.text(f"{proc}/version"),
        "machine": about.architecture,
        "cpu_model": processor_name(files, cpuinfo),
        "n_cpus": len(online) or None,
        "cpus_online": format_cpu_list(online),
        "cpus_allowed": format_cpu_list(host.usable_cpus()),
        "governor": read_governor(files),
        "turbo": read_turbo(files),
        "mitigations": read_mitigations(files),
        "euid_is_root": about.is_root,
        # since root in a container may hold few
        "capabilities": capabilities[1] if capabilities else None,
        "namespace_switches": {
            # Limits follow the size of memory, which need not be the same after each boot; a file
            # that is missing is no switch.
            path.rpartition("/")[2]: value != 0
            for path, *_ in SWITCHES
            if (value := files.number(f"proc/sys/{path}")) is not None
        },
        "memlock_bytes": about.memlock_bytes,
        # Versions, not paths: which of several doors leads to a tool is no matter.
        **{f"{name}_version": describe_tool(name, host).version for name in TOOLS},
        **{
            name: files.number(f"{proc}/{name}")
            for name in ("perf_event_paranoid", "io_uring_disabled", "nmi_watchdog")
        },
        **{name: net[name] for name in _NET_SETTINGS},
    }


def read_mitigations(files: HostFiles) -> dict[str, str]:
    """Return the processor's flaws and what the kernel does about them, which costs time.

    Flaws that this processor does not have are left out. Source: kernel document
    admin-guide/hw-vuln/index.rst; /sys/devices/system/cpu/vulnerabilities.
    """
    return {
        path.name: text
        for path in files.glob("sys/devices/system/cpu/vulnerabilities/*")
        if (text := files.text(str(path))) and text != "Not affected"
    }
