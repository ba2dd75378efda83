"""Guests for tests: a kernel that is fetched once, and the reason where there can be none."""

import os
import select
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from copycost.errors import Unavailable
from copycost.hosts.guest import host
from copycost.hosts.guest.image import CONSOLE_DRIVERS, GuestImage
from copycost.hosts.guest.kernel import AUTO, Kernel, find_kernel
from copycost.hosts.guest.qemu import GuestSpec, find_qemu

DRIVERS = (*CONSOLE_DRIVERS, "virtio_net")


def cache_folder() -> Path:
    """Return where kernels are kept from one run of the tests to the next."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "copycost-tests")


@cache
def kernel() -> Kernel:
    return find_kernel(AUTO, DRIVERS, cache_folder())


@cache
def lacks_guests() -> str | None:
    """Return why there are no guests here, None if there are."""
    try:
        find_qemu()
        GuestImage(kernel(), ())
    except Unavailable as missing:
        return missing.reason
    return None


def spec_of(image: GuestImage, folder: Path, memory_mib: int = 256) -> GuestSpec:
    """Return an emulated guest with a network, whose first file system is written to a folder."""
    initrd = folder / "initrd"
    image.write(initrd)
    memory_bytes = memory_mib << 20
    paths = (find_qemu(), str(kernel().image), str(initrd))
    return GuestSpec(*paths, "tcg", 1, memory_bytes, "virtio", False, True)


def ends(pidfd: int, within_s: float) -> bool:
    """Return whether a process ends in time."""
    ended, _, _ = select.select([pidfd], [], [], within_s)
    return bool(ended)


def run_of_our_own() -> Iterator[None]:
    """Have the tests themselves be the run that guests end with; a fixture's body."""

    @contextmanager
    def ourselves() -> Iterator[tuple[int, ...]]:
        fd = os.pidfd_open(os.getpid())
        yield (fd,)
        os.close(fd)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host, "waiting_process", os.getpid)
        patch.setattr(host, "watched_parents", ourselves)
        yield
