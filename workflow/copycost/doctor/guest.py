"""What guests are, as one JSON object: what they are made of, and what a booted one says."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from copycost.config.virtual import Virtual
from copycost.doctor.collect import collect_host
from copycost.hosts.guest.accelerator import PROBE_LIMIT_S
from copycost.hosts.guest.build_image import settle
from copycost.hosts.guest.daemon_client import borrowed
from copycost.hosts.guest.failure import MORE_MEMORY, GuestFailed
from copycost.hosts.guest.host import hosts_in
from copycost.hosts.guest.spec import GuestSpec

_MEMORY = "raise virtual.memory_mib in config.yaml, then ./run --retry-failed"
_KERNEL = (
    "name a kernel that boots in virtual.kernel of config.yaml, or auto; then ./run --retry-failed"
)


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
            remedy = _MEMORY if failed.remedy == MORE_MEMORY else _KERNEL
            failure = {"reason": failed.reason, "remedy": remedy, "failed": True}
            return {"virtual": {"unavailable": failure}}
        # what came up with KVM was no more than a kernel: emulation serves where the rest does not
        emulated = collect_guest(replace(virtual, accelerator="tcg"), made, kernel, initrd)
        kvm = {"usable": False, "reason": failed.reason, "limit_s": PROBE_LIMIT_S}
        return {**emulated, "virtual": {**emulated["virtual"], "kvm": kvm}}


def _described(settled: Mapping[str, Any]) -> dict[str, Any]:
    spec = GuestSpec.from_plain(settled["spec"])
    with borrowed(spec, ["a"], network=False) as lease, hosts_in(lease) as (host,):
        return collect_host(host=host)
