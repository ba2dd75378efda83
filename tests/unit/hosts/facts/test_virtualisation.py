"""Hypervisors as they show themselves in files."""

from pathlib import Path

import pytest

from copycost.hosts.facts.files import HostFiles
from copycost.hosts.facts.virtualisation import virtualisation

GUEST = "flags\t\t: fpu tsc hypervisor avx2\n"
METAL = "flags\t\t: fpu tsc avx2\n"


def host(root: Path, **firmware: str) -> HostFiles:
    folder = root / "sys/class/dmi/id"
    folder.mkdir(parents=True)
    for name, text in firmware.items():
        (folder / name).write_text(text + "\n")
    return HostFiles(root)


@pytest.mark.parametrize(
    ("vendor", "product", "name"),
    [
        ("QEMU", "KVM Virtual Machine", "kvm"),
        ("QEMU", "Standard PC (Q35 + ICH9, 2009)", "qemu"),
        ("Amazon EC2", "m5.large", "amazon"),
        ("VMware, Inc.", "VMware20,1", "vmware"),
        ("innotek GmbH", "VirtualBox", "virtualbox"),
        ("Microsoft Corporation", "Virtual Machine", "hyper-v"),
        ("Google", "Google Compute Engine", "google"),
        ("Acme", "Thing", "unnamed hypervisor"),
    ],
)
def test_a_guest_is_named_by_its_firmware(
    tmp_path: Path, vendor: str, product: str, name: str
) -> None:
    files = host(tmp_path, sys_vendor=vendor, product_name=product)
    assert virtualisation(files, "x86_64", GUEST) == name


def test_a_cloud_providers_bare_metal_host_is_no_guest(tmp_path: Path) -> None:
    files = host(tmp_path, sys_vendor="Amazon EC2", product_name="m5.metal")
    assert virtualisation(files, "x86_64", METAL) == "none"


def test_an_arm_guest_is_known_by_its_firmware_or_device_tree(tmp_path: Path) -> None:
    files = host(tmp_path, sys_vendor="QEMU", product_name="KVM Virtual Machine")
    assert virtualisation(files, "aarch64", "") == "kvm"
    tree = tmp_path / "proc/device-tree/hypervisor"
    tree.mkdir(parents=True)
    (tree / "compatible").write_bytes(b"xen,xen-4.17\0")
    assert virtualisation(files, "aarch64", "") == "xen,xen-4.17"


def test_an_arm_host_that_tells_nothing_is_unknown(tmp_path: Path) -> None:
    assert virtualisation(HostFiles(tmp_path), "aarch64", "") is None
