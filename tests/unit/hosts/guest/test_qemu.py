"""QEMU's command line, and where there is none."""

import os
from pathlib import Path

import pytest

from copycost.errors import Unavailable
from copycost.hosts.guest import qemu
from copycost.hosts.guest.build_image import settle
from copycost.hosts.guest.qemu import GuestMachine, Link, find_qemu
from copycost.hosts.local import LocalHost


def words(link: Link | None) -> str:
    machine = GuestMachine("a", Path("/k"), Path("/i"), ("/agent.sh", "eth0"), link=link)
    return " ".join(machine.words())


def test_a_guest_without_a_link_has_no_network() -> None:
    assert "-nic none" in words(None)
    assert words(None).count("-append") == 1
    assert "-- /agent.sh eth0" in words(None)


def test_threads_are_named_so_that_they_can_be_told_apart() -> None:
    assert "-name a,debug-threads=on" in words(None)


def test_offloads_and_vhost_are_as_asked_for() -> None:
    usual = words(Link(7, "02:00:00:00:00:0a"))
    assert "tap,id=net,fd=7,vhost=off" in usual
    assert "csum=off" not in usual
    assert "vhost=on,vhostfd=9" in words(Link(7, "02:00:00:00:00:0a", vhost_fd=9))
    without = words(Link(7, "02:00:00:00:00:0a", offloads=False))
    assert all(
        f"{feature}=off" in without for feature in ("csum", "gso", "host_tso4", "guest_tso4")
    )


def test_a_network_card_has_neither_vhost_nor_features_of_virtio() -> None:
    card = words(Link(7, "02:00:00:00:00:0a", "e1000", vhost_fd=9, offloads=False))
    assert "-device e1000,netdev=net" in card
    assert "vhost=off" in card
    assert "csum=off" not in card


def test_other_architectures_are_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    there = os.uname_result(("Linux", "host", "6.1.0", "#1", "aarch64"))
    monkeypatch.setattr(qemu.os, "uname", lambda: there)
    with pytest.raises(Unavailable, match="for x86_64 alone, and this machine is aarch64"):
        find_qemu()


def test_a_missing_qemu_is_told_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qemu, "ARCHITECTURE", os.uname().machine)
    monkeypatch.setattr(LocalHost, "find_tool", lambda *_: None)
    with pytest.raises(Unavailable, match="install the package qemu-system-x86"):
        find_qemu()


def test_what_could_not_be_made_is_the_answer() -> None:
    missing = {"reason": "there is none", "remedy": "make one"}
    nothing = Path("/nowhere")
    # nothing else is looked at, the configuration neither
    found = settle(None, {"unavailable": missing}, nothing, nothing)  # type: ignore[arg-type]
    assert found == {"unavailable": missing}
