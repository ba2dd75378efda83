"""The archive is one that cpio takes apart again, and the same for the same content."""

import shutil
import subprocess
from pathlib import Path

import pytest

from copycost.hosts.guest.archive import Archive


def example() -> Archive:
    archive = Archive()
    archive.add("/etc/motd", b"hello\n")
    archive.add("/init", b"#!/bin/sh\n", 0o755)
    archive.add_link("/bin/sh", "busybox")
    archive.add_folder("/proc")
    return archive


@pytest.mark.skipif(shutil.which("cpio") is None, reason="no cpio on the PATH")
def test_cpio_unpacks_it(tmp_path: Path) -> None:
    example().write(tmp_path / "a.cpio")
    there = tmp_path / "there"
    there.mkdir()
    with (tmp_path / "a.cpio").open("rb") as archive:
        subprocess.run(["cpio", "-i", "--quiet"], stdin=archive, cwd=there, check=True)
    assert (there / "etc/motd").read_text() == "hello\n"
    assert (there / "init").stat().st_mode & 0o777 == 0o755
    assert (there / "bin/sh").readlink() == Path("busybox")
    assert (there / "proc").is_dir()


def test_the_order_in_which_files_were_added_leaves_no_trace(tmp_path: Path) -> None:
    one, other = Archive(), Archive()
    one.add("/a", b"1")
    one.add("/b/c", b"2")
    other.add("/b/c", b"2")
    other.add("/a", b"1")
    one.write(tmp_path / "one")
    other.write(tmp_path / "other")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
