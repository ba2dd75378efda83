"""Hypervisors as they show themselves in files."""

from pathlib import Path

import pytest

from copycost.hosts.facts.cpu import virtualisation
from copycost.hosts.facts.files import HostFiles

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
        ("Microsoft Corporation", "Virtual Machine", "hyper-v"),
        ("Acme", "Thing", "unnamed hypervisor"),
    ],
)
def test_a_guest_is_named_by_its_firmware(
    tmp_path: Path, vendor: str, product: str, name: str
) -> None:
    files = host(tmp_path, sys_vendor=vendor, product_name=product)
    assert virtualisation(files, "x86_64", GUEST) == name


def test_what_decides_without_the_flag_of_guests(tmp_path: Path) -> None:
    files = host(tmp_path / "cloud", sys_vendor="Amazon EC2", product_name="m5.metal")
    assert virtualisation(files, "x86_64", METAL) == "none"
    files = host(tmp_path / "arm", sys_vendor="QEMU", product_name="KVM Virtual Machine")
    assert virtualisation(files, "aarch64", "") == "kvm"
    tree = files.root / "proc/device-tree/hypervisor"
    tree.mkdir(parents=True)
    (tree / "compatible").write_bytes(b"xen,xen-4.17\0")
    assert virtualisation(files, "aarch64", "") == "xen,xen-4.17"
    assert virtualisation(HostFiles(tmp_path), "aarch64", "") is None
