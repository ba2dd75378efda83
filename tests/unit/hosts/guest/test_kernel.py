"""Which kernel a guest gets, and in which order its modules are loaded."""

import shutil
import subprocess
from pathlib import Path

import pytest

from copycost.errors import Unavailable
from copycost.hosts.guest.kernel import find_kernel, find_other_kernel, kernel_at


def write_kernel(folder: Path, release: str = "6.9.9-test") -> tuple[Path, Path]:
    """Write what passes for the header of a kernel; return it and the folder of its modules."""
    image, modules = folder / "boot" / f"vmlinuz-{release}", folder / "lib/modules" / release
    image.parent.mkdir(parents=True)
    modules.mkdir(parents=True)
    head = bytearray(0x400)
    head[0x202:0x206] = b"HdrS"
    head[0x20E:0x210] = (0x100).to_bytes(2, "little")
    words = f"{release} (somebody@somewhere) #1\0".encode()
    head[0x300 : 0x300 + len(words)] = words
    image.write_bytes(bytes(head))
    return image, modules


def write_module(folder: Path, name: str, needs: str = "") -> None:
    (folder / f"{name}.ko").write_bytes(f"ELF\0license=GPL\0depends={needs}\0\0".encode())


def test_a_file_that_is_no_kernel_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no kernel" * 1000)
    with pytest.raises(Unavailable, match=r"notes\.txt is no kernel for x86"):
        find_kernel(str(tmp_path / "notes.txt"), [], tmp_path)
    with pytest.raises(Unavailable, match="No such file"):
        find_kernel(str(tmp_path / "missing"), [], tmp_path)
    image, _ = write_kernel(tmp_path)
    image.write_bytes(image.read_bytes()[:0x280])  # as much of it as a download brought
    with pytest.raises(Unavailable, match="is no kernel for x86"):
        find_kernel(str(image), [], tmp_path)


def test_modules_lie_beside_a_kernel_as_in_its_package(tmp_path: Path) -> None:
    image, modules = write_kernel(tmp_path)
    (modules / "net").mkdir()
    write_module(modules / "net", "virtio_net", "failover")
    (modules / "modules.builtin").write_text("kernel/drivers/virtio/virtio-ring.ko\n")
    found = find_kernel(str(image), ["virtio_net", "virtio_ring"], tmp_path)
    assert found.lacks(["virtio_ring", "e1000"]) == ["e1000"]
    with pytest.raises(Unavailable, match=r"6\.9\.9-test .* has no driver e1000"):
        find_kernel(str(image), ["e1000"], tmp_path)


def test_another_kernel_is_another_one(tmp_path: Path) -> None:
    (usual, _), (other, _) = (write_kernel(tmp_path / name, name) for name in ("6.9.9", "6.8.1"))
    found = find_other_kernel(str(other), str(usual), [], tmp_path)
    assert found.release == "6.8.1"
    with pytest.raises(Unavailable, match=r"the other kernel, 6\.9\.9 \(.*\), is the usual one"):
        find_other_kernel(str(usual), str(usual), [], tmp_path)


def test_each_module_comes_behind_those_that_it_needs(tmp_path: Path) -> None:
    image, modules = write_kernel(tmp_path)
    write_module(modules, "virtio_net", "virtio,net-failover")
    write_module(modules, "net_failover", "failover,virtio")
    write_module(modules, "failover")
    with pytest.raises(Unavailable, match="has no driver virtio"):
        kernel_at(image).in_loading_order(["virtio_net"])
    write_module(modules, "virtio")
    order = list(kernel_at(image).in_loading_order(["virtio_net"]))
    assert order == ["virtio", "failover", "net_failover", "virtio_net"]


@pytest.mark.parametrize("packer", ["xz", "zstd"])
def test_packed_modules_are_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packer: str
) -> None:
    if shutil.which(packer) is None:
        pytest.skip(f"there is no {packer}")
    image, modules = write_kernel(tmp_path)
    module = modules / "virtio.ko"
    module.write_bytes(b"ELF")
    subprocess.run([packer, "--quiet", module], check=True)
    module.unlink(missing_ok=True)
    assert kernel_at(image).in_loading_order(["virtio"]) == {"virtio": b"ELF"}
    (packed,) = modules.iterdir()
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(Unavailable, match=r"virtio\.ko\.\w+ cannot be unpacked"):
        kernel_at(image).in_loading_order(["virtio"])
    if packer == "zstd":
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(Unavailable, match=r"No such file .*install zstd"):
            kernel_at(image).in_loading_order(["virtio"])
