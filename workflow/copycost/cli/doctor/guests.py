"""What virtual machines and simulated counts take of this host; nothing is fetched, or booted."""

from collections.abc import Callable, Iterable
from functools import partial

from copycost.build.toolchain import (
    INCLUDE_FLAGS,
    LANGUAGE_FLAGS,
    run_compiler,
    translation_units,
)
from copycost.cli.doctor.findings import Finding, State, say, titled, version_in
from copycost.config.checkout import ROOT
from copycost.errors import CopycostError, Unavailable
from copycost.hosts.facts.tools import describe_tool
from copycost.hosts.guest.image import find_busybox
from copycost.hosts.guest.kernel import kernel_source
from copycost.hosts.guest.network import has_vhost, require_taps
from copycost.hosts.guest.qemu import PROGRAM, find_qemu, require_kvm_device, require_plugins
from copycost.hosts.local import LocalHost
from copycost.measure.simulated.guest import TOOLS

_BOTH = ("busybox", "kernel")
_KVM = (
    "lets the processor run them; ./run tries it with a guest, since a device that is there may not"
    " work; without it they are emulated"
)


def judge_guests() -> list[Finding]:
    """Return what guests take; without what they cannot do without, they are missing."""
    vhost = "has the kernel move their packets; without it QEMU does"
    found = [
        _tried("QEMU", "runs them", find_qemu, _qemu()),
        _tried("busybox", "is their first process", find_busybox, "static"),
        _tried("kernel", "is what they boot", kernel_source),
        _tried("TAP devices", "join them: vm_pair and vm_host; vm_loopback does without",
               require_taps, "yes", "limited"),
        _tried("KVM", _KVM, require_kvm_device, "a device", "limited"),
        say("vhost-net", "ok", "yes", vhost) if has_vhost()
        else say("vhost-net", "limited", "missing", vhost, "sudo modprobe vhost_net"),
    ]  # fmt: skip
    return titled("Virtual machines", found)


def judge_simulation(guests: Iterable[Finding]) -> list[Finding]:
    """Return what is missing for simulated counts, some of which guests need too, or nothing is."""
    tools = (
        _tried(name, "makes the testbeds in it", partial(_require_tool, name), "yes")
        for name in TOOLS
    )
    needs = [
        _tried("QEMU with plugins", "runs the guest", require_plugins, _qemu()),
        _tried("plugin", "counts in it", _check_plugin, "yes"),
        *(one for one in guests if one.name in _BOTH),
        *tools,
    ]
    missing = [one for one in needs if one.state != "ok"]
    note = "./run simulated tells which cache level misses what if none is counted"
    return titled("Simulated counts", missing or [say("cache model", "ok", "yes", note)])


def _check_plugin() -> None:
    """Raise HostError unless the compiler takes the plugin: it has the headers that this takes."""
    units = translation_units("simulated_plugin", None, ROOT)
    flags = [*LANGUAGE_FLAGS, *INCLUDE_FLAGS, "-fsyntax-only"]
    run_compiler(["cc", *flags, *map(str, units)], "simulated_plugin", ROOT)


def _require_tool(name: str) -> None:
    if LocalHost().find_tool(name) is None:
        raise Unavailable(f"the command {name} was not found", "install iproute2 and nftables")


def _qemu() -> str:
    return version_in(describe_tool(PROGRAM).version)


def _tried(
    name: str,
    use: str,
    find: Callable[[], object],
    value: str | None = None,
    lacking: State = "missing",
) -> Finding:
    """Return whether something can be found; in words of its own unless there is a `value`."""
    try:
        found = find()
    except Unavailable as missing:
        return say(name, lacking, "missing", f"{missing.reason}; it {use}", missing.remedy)
    except CopycostError as failure:
        help = "install gcc and its headers"
        return say(name, lacking, "missing", f"{failure}; it {use}", help)
    return say(name, "ok", value or str(found), use)
