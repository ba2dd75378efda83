"""What guests are started by, and booted from."""

import os
from pathlib import Path
from typing import Any

import pytest

from copycost.errors import Unavailable
from copycost.hosts.guest import qemu
from copycost.hosts.guest.archive import Archive
from copycost.hosts.guest.qemu import GuestSpec, Link, find_qemu
from copycost.hosts.local import LocalHost


def words(**spec: Any) -> str:  # noqa: ANN401
    made_of = GuestSpec("qemu", "/k", "/i", **spec)
    link = Link("tap-a", "02:00:00:00:00:0a")
    return " ".join(made_of.words("a", ("/agent.sh", "eth0"), None, link))


def test_offloads_and_vhost_are_as_asked_for() -> None:
    usual = words()
    assert "tap,id=net,ifname=tap-a,script=no,downscript=no,vhost=off" in usual
    assert "csum=off" not in usual
    assert "vhost=on" in words(vhost=True)
    without = words(offloads=False)
    assert all(f"{name}=off" in without for name in ("csum", "gso", "host_tso4", "guest_tso4"))
    card = words(vhost=True, network_device="e1000", offloads=False)  # has neither of virtio's
    assert "-device e1000,netdev=net" in card
    assert "vhost=off" in card
    assert "csum=off" not in card


def test_where_there_is_no_qemu_a_sentence_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qemu, "ARCHITECTURE", os.uname().machine)
    monkeypatch.setattr(LocalHost, "find_tool", lambda *_: None)
    with pytest.raises(Unavailable, match="install the package qemu-system-x86"):
        find_qemu()
    monkeypatch.setattr(qemu, "ARCHITECTURE", "another")
    with pytest.raises(Unavailable, match="guests are made for another alone, and this machine is"):
        find_qemu()


def test_the_order_in_which_files_were_added_leaves_no_trace(tmp_path: Path) -> None:
    files = [("/a", b"1"), ("/b/c", b"2")]
    for name, order in (("one", files), ("other", files[::-1])):
        archive = Archive()
        for path, content in order:
            archive.add(path, content)
        archive.write(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
