"""Make what guests are booted from, and settle what they are made of; the workflow keeps both.

Where something is missing, that is the answer, with the remedy: the cells are then skipped.
"""

import shutil
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from copycost.config.config import Virtual
from copycost.errors import HostError, Unavailable
from copycost.hosts.facts.tools import describe_tool
from copycost.hosts.guest.image import agent_image, symbols_of
from copycost.hosts.guest.kernel import alone_with, find_kernel
from copycost.hosts.guest.network import has_vhost
from copycost.hosts.guest.qemu import (
    CPUS,
    KERNEL_ARGUMENTS,
    PROGRAM,
    Accelerator,
    GuestSpec,
    NetworkDevice,
    RunningGuest,
    find_qemu,
    require_kvm_device,
)

KVM_LIMIT_S = 10.0
DRIVERS: Mapping[NetworkDevice, str] = {"virtio": "virtio_net", "e1000": "e1000"}
# of the host's own, beside what is always there
TOOLS = ("ip", "ethtool", "perf", "iperf3", "cpulimit")


def make_image(choice: str, device: NetworkDevice, kernel: Path, initrd: Path) -> dict[str, Any]:
    """Write the kernel and the first file system of guests; return what they are.

    That is `kernel` with release and source, and the `tools` that are in it; or `unavailable` with
    a reason and a remedy where guests cannot be had, and both files are empty.
    """
    for target in (kernel, initrd):
        target.write_bytes(b"")
    packages = kernel.parent / "packages"
    try:
        find_qemu()
        with alone_with(packages):
            try:
                found = find_kernel(choice, [DRIVERS[device]], packages)
                image = agent_image(found, [DRIVERS[device]], TOOLS)
                shutil.copyfile(found.image, kernel)
                image.write(initrd)
            finally:
                for unpacked in packages.glob("*/*/"):  # the packages themselves stay
                    shutil.rmtree(unpacked)
    except Unavailable as missing:
        return {"unavailable": {"reason": missing.reason, "remedy": missing.remedy}}
    return {
        "unavailable": None,
        "kernel": {"release": found.release, "source": found.source},
        "tools": image.tools,
    }


def settle(virtual: Virtual, made: Mapping[str, Any], kernel: Path, initrd: Path) -> dict[str, Any]:
    """Return what guests are made of, by the configuration and by what this host can do.

    That is `unavailable` as above, else `spec` (see `GuestSpec`), `kernel` with its arguments,
    `cpu` and `qemu` (model of processor, and version), and `kvm`: what came of trying it, None
    where nobody asked for it.
    """
    if made["unavailable"] is not None:
        return {"unavailable": made["unavailable"]}
    kvm: dict[str, Any] | None = None
    accelerator: Accelerator = "tcg"
    try:
        spec = GuestSpec(
            qemu=find_qemu(),
            kernel=str(kernel),
            initrd=str(initrd),
            vcpus=virtual.vcpus,
            memory_bytes=virtual.memory_mib << 20,
            network_device=virtual.network_device,
            vhost=virtual.vhost == "auto" and virtual.network_device == "virtio" and has_vhost(),
            offloads=virtual.offloads,
        )
        if virtual.accelerator != "tcg":
            refusal = kvm_refusal(spec)
            kvm = {"usable": refusal is None, "reason": refusal, "limit_s": KVM_LIMIT_S}
            if refusal is None:
                accelerator = "kvm"
            elif virtual.accelerator == "kvm":
                raise Unavailable(
                    f"no guest can be run by KVM: {refusal}",
                    "set virtual.accelerator to tcg or auto in config.yaml",
                )
    except Unavailable as missing:
        return {"unavailable": {"reason": missing.reason, "remedy": missing.remedy}}
    return {
        "unavailable": None,
        "spec": asdict(replace(spec, accelerator=accelerator)),
        "kernel": {**made["kernel"], "arguments": list(KERNEL_ARGUMENTS)},
        "cpu": CPUS[accelerator],
        "qemu": describe_tool(PROGRAM).version,
        "kvm": kvm,
    }


def kvm_refusal(spec: GuestSpec) -> str | None:
    """Boot a small guest with KVM; return why it does not come up, None if it does.

    That there is a /dev/kvm says little: a virtual machine may offer one with which no guest does.
    """
    try:
        require_kvm_device()
    except Unavailable as missing:
        return missing.reason
    small = replace(spec, accelerator="kvm", vcpus=1, memory_bytes=256 << 20)
    with closing(RunningGuest(small, "probe", ["true"])) as probe:
        try:
            probe.await_up(KVM_LIMIT_S)
        except HostError as error:
            return str(error)
    return None


def guest_identity() -> dict[str, object]:
    """Return versions of what guests are made with and of; where one changes, they are made anew.

    None for what is not there.
    """
    release = Path("/proc/sys/kernel/osrelease").read_text().strip()
    return {
        "python": sys.version,
        "host_kernel": release,
        "c_library_symbols": str(symbols_of(Path(sys.executable))),
        **{f"{name}_version": describe_tool(name).version for name in (PROGRAM, "busybox", *TOOLS)},
    }
