"""Everything about a host, or a guest, that a report or a measurement needs to know, as JSON."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from copycost.cli.doctor.testbeds import probe_testbeds
from copycost.config.config import Virtual
from copycost.hosts.facts.cpu import read_cpu
from copycost.hosts.facts.files import Unknowns
from copycost.hosts.facts.identity import host_identity
from copycost.hosts.facts.kernel import read_kernel, read_memory, read_net
from copycost.hosts.facts.tools import TOOLS, describe_tool
from copycost.hosts.guest.build_image import KVM_LIMIT_S, settle
from copycost.hosts.guest.host import GuestFailed, borrowed
from copycost.hosts.guest.qemu import GuestSpec
from copycost.hosts.host import Host
from copycost.hosts.local import LocalHost
from copycost.observers.perf.probe import read_perf

SCHEMA_VERSION = 1

_MEMORY = "raise virtual.memory_mib in config.yaml, then ./run --retry-failed"
_KERNEL = (
    "name a kernel that boots in virtual.kernel of config.yaml, or auto; then ./run --retry-failed"
)


def collect_host(
    identity: dict[str, object] | None = None, host: Host | None = None
) -> dict[str, object]:
    """Describe a host, by default this machine, in plain JSON values.

    Only what stays the same from run to run is in it, since every measured cell depends on the
    content of this file. What cannot be found is None, and ``unknown`` gives the reason under
    the dotted name. The identity is that of `host_identity`, asked anew if not given; which
    testbeds can be built is tried on this machine only.
    """
    here = host is None
    host = host or LocalHost()
    files = host.files
    unknown = Unknowns()
    identity = identity if identity is not None else host_identity(files, host)
    return {
        "schema_version": SCHEMA_VERSION,
        "identity": identity,
        "cpu": read_cpu(files, str(identity["machine"]), unknown),
        "kernel": read_kernel(files, unknown),
        "memory": read_memory(files, host.about.memlock_bytes, unknown),
        "net": read_net(files, unknown),
        "perf": read_perf(files, unknown, host),
        "testbeds": probe_testbeds() if here else {},
        "tools": _tools(host, unknown),
        "unknown": dict(sorted(unknown.reasons.items())),
    }


def _tools(host: Host, unknown: Unknowns) -> dict[str, dict[str, str | None]]:
    """Return path and version of each program that a measurement calls."""
    tools = {}
    for name in TOOLS:
        tool = describe_tool(name, host)
        unknown.checked(f"tools.{name}.path", tool.path, "not installed")
        unknown.checked(
            f"tools.{name}.version", tool.version, "does not run" if tool.path else "not installed"
        )
        tools[name] = asdict(tool)
    return tools


def collect_guest(
    virtual: Virtual, made: Mapping[str, Any], kernel: Path, initrd: Path
) -> dict[str, Any]:
    """Describe guests: ``virtual`` of `settle`, and what `collect_host` says where one boots.

    Where the first one does not come up, ``unavailable`` has ``failed`` besides. `made` is what
    `make_image` said of kernel and first file system.
    """
    settled = settle(virtual, made, kernel, initrd)
    if settled["unavailable"] is not None:
        return {"virtual": settled}
    try:
        return {"virtual": settled, **_described(settled)}
    except GuestFailed as failed:
        if virtual.accelerator != "auto" or settled["spec"]["accelerator"] != "kvm":
            remedy = _MEMORY if failed.lacks_memory else _KERNEL
            failure = {"reason": failed.reason, "remedy": remedy, "failed": True}
            return {"virtual": {"unavailable": failure}}
        # what came up with KVM was no more than a kernel: emulation serves where the rest does not
        emulated = collect_guest(replace(virtual, accelerator="tcg"), made, kernel, initrd)
        kvm = {"usable": False, "reason": failed.reason, "limit_s": KVM_LIMIT_S}
        return {**emulated, "virtual": {**emulated["virtual"], "kvm": kvm}}


def _described(settled: Mapping[str, Any]) -> dict[str, Any]:
    spec = GuestSpec(**settled["spec"])
    with borrowed(spec, ["a"], network=False) as lease:
        return collect_host(host=lease.hosts[0])
