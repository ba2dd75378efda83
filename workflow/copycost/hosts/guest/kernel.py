"""The kernel of guests, the host's own, of a package or a file, and its modules.

A package is fetched and unpacked without installing it, so no right is needed. It has no
modules.dep then, but each module says itself what it depends on.

Source: Documentation/arch/x86/boot.rst on the header of a bzImage; apt-get(8), dpkg-deb(1);
modinfo(8), kmod's libkmod-module.c on the section .modinfo; modules.builtin of kbuild.
"""

import fcntl
import lzma
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from copycost.errors import Unavailable
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.facts.tools import distribution_family

AUTO = "auto"
"""The word of the configuration for: choose."""

_SUFFIXES = (".ko", ".ko.xz", ".ko.zst")
_DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")
# in a bzImage: the magic of its header, and where that says how far behind 0x200 the version begins
_MAGIC_AT, _MAGIC = 0x202, b"HdrS"
_VERSION_AT = 0x20E
_FETCH_TIMEOUT_S = 300
# per distribution, the package that depends on the newest kernel: the small one for virtual
# machines, and the one with all drivers
_PACKAGES = {
    "debian": ("linux-image-cloud-amd64", "linux-image-amd64"),
    "ubuntu": ("linux-image-virtual", "linux-image-generic"),
}
_KERNEL_PACKAGE = re.compile(r"^\W*Depends: (linux-(?:image|modules)-\d\S*)$", re.MULTILINE)
_REMEDY = "state the path of a kernel at virtual.kernel in config.yaml"
_OTHER_REMEDY = "state the path of a kernel at simulated.sensitivity.kernel in config.yaml"


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel that a guest can boot."""

    image: Path  # the bzImage
    release: str  # its version, as `uname -r` says it
    # where it is from, for people: the host's own, a package with its version, or a path
    source: str
    # files of its modules, by their names with underscores, and the names of what is built in
    modules: Mapping[str, Path] = field(default_factory=dict)
    built_in: frozenset[str] = frozenset()

    def lacks(self, drivers: Sequence[str]) -> list[str]:
        """Return which drivers it has neither built in nor as modules."""
        return [name for name in drivers if name not in self.built_in and name not in self.modules]

    def in_loading_order(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return modules and all they depend on: content by name, each behind what it needs."""
        loaded: dict[str, bytes] = {}
        for name in names:
            self._load(name, loaded)
        return loaded

    def _load(self, name: str, loaded: dict[str, bytes]) -> None:
        if name in loaded or name in self.built_in:
            return
        self.require([name])
        content = _content(self.modules[name])
        found = _DEPENDS.search(content)
        for needed in filter(None, (found[1] if found else b"").decode().split(",")):
            self._load(_name(needed), loaded)
        loaded[name] = content

    def require(self, drivers: Sequence[str]) -> None:
        """Raise Unavailable unless it has these drivers."""
        if missing := self.lacks(drivers):
            raise Unavailable(
                f"the kernel {self.release} ({self.source}) has no driver {', '.join(missing)}",
                _REMEDY,
            )


def _name(file: str) -> str:
    return file.partition(".")[0].replace("-", "_")


def _content(path: Path) -> bytes:
    """Return a module unpacked: Debian packs with xz or not at all, Ubuntu with zstd."""
    try:
        if path.suffix == ".zst":
            return subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
        content = path.read_bytes()
        return lzma.decompress(content) if path.suffix == ".xz" else content
    except (OSError, lzma.LZMAError, subprocess.CalledProcessError) as error:
        cure = "install zstd" if path.suffix == ".zst" else "install the kernel's package again"
        raise Unavailable(f"{path} cannot be unpacked ({error})", cure) from error


def find_kernel(choice: str, drivers: Sequence[str], folder: Path) -> Kernel:
    """Return a kernel with these drivers; Unavailable if there is none.

    The choice is the path of a bzImage, or `AUTO`: the host's own where it has the drivers and can
    be read, else the distribution's smallest package that has them, unpacked in a folder unless it
    is there already.
    """
    found = None
    for found in _candidates(folder) if choice == AUTO else [kernel_at(Path(choice))]:
        if not found.lacks(drivers):
            return found
    if found is None or (choice == AUTO and not _package_names()):
        raise Unavailable(
            "the host's own kernel cannot be booted in a guest, and only packages of Debian and"
            " Ubuntu can be fetched",
            _REMEDY,
        )
    found.require(drivers)
    return found


def _candidates(folder: Path) -> Iterator[Kernel]:
    """Yield the kernels that may be chosen here: the host's own, then the smallest package's."""
    if own := _own_kernel():
        yield kernel_at(own, "the host's own")
    for package in _package_names():
        yield _unpacked(package, folder / package)


def find_other_kernel(choice: str, usual: str, drivers: Sequence[str], folder: Path) -> Kernel:
    """Return another kernel than the usual choice, to see what depends on it.

    As `find_kernel`, but `AUTO` takes the distribution's kernel with all drivers.
    """
    if choice != AUTO:
        found = kernel_at(Path(choice))
    elif packages := _package_names():
        found = _unpacked(packages[-1], folder / packages[-1])
    else:
        raise Unavailable("only packages of Debian and Ubuntu can be fetched", _OTHER_REMEDY)
    found.require(drivers)
    if found.release == find_kernel(usual, drivers, folder).release:
        raise Unavailable(
            f"the other kernel, {found.release} ({found.source}), is the usual one", _OTHER_REMEDY
        )
    return found


def kernel_source() -> str:
    """Return where `AUTO` looks for a kernel first; Unavailable if there is nowhere to look."""
    if own := _own_kernel():
        return f"the host's own, {own.name.removeprefix('vmlinuz-')}"
    if packages := _package_names():
        return f"package {packages[0]}"
    raise Unavailable(
        f"the kernel of this host, {os.uname().release}, cannot be read",
        "sudo chmod a+r /boot/vmlinuz-*, or state virtual.kernel in config.yaml",
    )


def _own_kernel() -> Path | None:
    """Return the file of the kernel that runs here; None where it cannot be read."""
    path = Path("/boot", f"vmlinuz-{os.uname().release}")
    return path if os.access(path, os.R_OK) else None


def _package_names() -> tuple[str, ...]:
    """Return the packages that depend on a kernel here, the smallest first; none elsewhere."""
    return _PACKAGES.get(distribution_family(HostFiles()) or "", ())


def kernel_at(image: Path, source: str | None = None) -> Kernel:
    """Return the kernel in a file; its modules are looked for where its package has them."""
    release = _release_of(image)
    places = [image.parent.parent / "lib/modules" / release, Path("/lib/modules") / release]
    folder = next((place for place in places if place.is_dir()), places[0])
    files = (path for path in folder.rglob("*.ko*") if path.name.endswith(_SUFFIXES))
    listed = folder / "modules.builtin"
    lines = listed.read_text().splitlines() if listed.exists() else []
    return Kernel(
        image,
        release,
        source or str(image),
        {_name(path.name): path for path in files},
        frozenset(_name(Path(line).name) for line in lines),
    )


def _release_of(image: Path) -> str:
    """Return the version of the kernel in a bzImage; Unavailable if it is none of x86."""
    try:
        content = image.read_bytes()
    except OSError as error:
        raise Unavailable(f"the kernel {image}: {error.strerror}", _REMEDY) from error
    start = 0x200 + int.from_bytes(content[_VERSION_AT : _VERSION_AT + 2], "little")
    version = content[start:].partition(b"\0")[0].split()
    if content[_MAGIC_AT : _MAGIC_AT + len(_MAGIC)] != _MAGIC or not version:
        raise Unavailable(f"{image} is no kernel for x86 (a bzImage)", _REMEDY)
    return version[0].decode(errors="replace")


def _unpacked(package: str, folder: Path) -> Kernel:
    """Return the kernel that a package depends on, fetched unless it is there, and unpacked."""
    folder.mkdir(parents=True, exist_ok=True)
    image, *_ = _needed_by(package, folder, "linux-image-") or [""]
    if not image:
        raise Unavailable(f"apt knows no package {package}", "sudo apt-get update, then run again")
    # Ubuntu has the modules apart: the image depends on them
    names = [image, *_needed_by(image, folder, "linux-modules-")]
    for name in names:
        if not list(folder.glob(f"{name}_*.deb")):
            _said(["apt-get", "-qq", "download", name], folder)
    vmlinuz = folder / "boot" / f"vmlinuz-{image.removeprefix('linux-image-')}"
    if not vmlinuz.exists():
        for name in names:
            archive = max(folder.glob(f"{name}_*.deb"), key=lambda path: path.stat().st_mtime)
            _said(["dpkg-deb", "-x", archive.name, "."], folder)
    return kernel_at(vmlinuz, f"package {image}")


def _needed_by(package: str, folder: Path, kind: str) -> list[str]:
    """Return the packages of a kind that one depends on, by apt's lists."""
    said = _said(["apt-cache", "depends", package], folder)
    return [name for name in _KERNEL_PACKAGE.findall(said) if name.startswith(kind)]


def _said(words: Sequence[str], folder: Path) -> str:
    """Return what a command of the packages' tools prints."""
    env = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            words, cwd=folder, env=env, capture_output=True, text=True, errors="replace",
            check=False, timeout=_FETCH_TIMEOUT_S,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{words[0]} cannot be run: {error}", _REMEDY) from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise Unavailable(
            f"{' '.join(words)} failed: {said[-1]}",
            f"sudo apt-get update, then run again; or {_REMEDY}",
        )
    return done.stdout


@contextmanager
def alone_with(folder: Path) -> Iterator[None]:
    """Keep other jobs from a folder of packages: one unpacks what another reads or removes."""
    folder.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
