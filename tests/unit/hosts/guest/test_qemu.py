"""How guests are started and given up in time, and which QEMU will do."""

import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from programs import add_program, until

from copycost.errors import HostError, Unavailable
from copycost.hosts.guest import qemu
from copycost.hosts.guest.qemu import GuestSpec, RunningGuest, find_qemu, require_plugins
from copycost.hosts.local import LocalHost

PLUGINS = (
    "-no-reboot      exit instead of rebooting\n-plugin [file=]<file>[,<argname>=<argvalue>]\n"
)


def words(**spec: Any) -> str:  # noqa: ANN401
    made_of = GuestSpec("qemu", "/k", "/i", **spec)
    return " ".join(made_of.words("a", ("/agent.sh", "eth0"), network=True))


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


@pytest.mark.parametrize(
    ("version", "options", "reason"),
    [
        ("QEMU emulator version 6.2.0 (Debian 1:6.2)", PLUGINS, "has version 6.2, and plugins"),
        ("who knows", PLUGINS, "has no version number"),
        ("QEMU emulator version 8.2.2", "-no-reboot\n", "was built without plugins"),
    ],
)
def test_a_qemu_without_plugins_is_refused(version: str, options: str, reason: str) -> None:
    with pytest.raises(Unavailable, match=reason):
        require_plugins(f"{version}\n{options}")


def test_a_guest_that_does_not_come_up_is_given_up(tmp_path: Path) -> None:
    qemu = add_program(tmp_path / "qemu", "#!/bin/sh\necho booting\nexec sleep 60\n")
    with closing(RunningGuest(GuestSpec(str(qemu), "/k", "/i"), "a", ())) as guest:
        until(lambda: guest.console() == ["booting"])
        with pytest.raises(HostError, match=r"was not up within 0\.2 s; .* console: booting$"):
            guest.await_up(0.2)
