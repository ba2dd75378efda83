"""What the doctor says of virtual machines and simulated counts."""

import pytest

from copycost.doctor import guests
from copycost.doctor.findings import say
from copycost.errors import HostError, Unavailable


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with QEMU and a kernel, and nothing else that guests take."""

    def missing(*_: object) -> None:
        raise Unavailable("there is none", "install it")

    def refused() -> None:
        raise HostError("cc refused the sources")

    monkeypatch.setattr(guests, "_qemu", lambda: "7.2.22")
    for name in ("find_qemu", "kernel_source", "require_plugins"):
        monkeypatch.setattr(guests, name, lambda: "there")
    for name in ("find_busybox", "require_taps", "require_kvm_device", "_require_tool"):
        monkeypatch.setattr(guests, name, missing)
    monkeypatch.setattr(guests, "has_vhost", lambda: False)
    monkeypatch.setattr(guests, "_check_plugin", refused)


def test_what_is_there_is_ok_and_what_is_not_has_a_reason_and_a_remedy() -> None:
    found = {one.name: one for one in guests.judge_guests()}
    assert [found[name].state for name in ("QEMU", "busybox", "KVM")] == [
        "ok",
        "missing",
        "limited",
    ]
    assert (found["QEMU"].value, found["kernel"].value) == ("7.2.22", "there")
    assert found["busybox"].note == "there is none; it is their first process"
    assert found["busybox"].remedy == "install it"
    assert found["vhost-net"].remedy == "sudo modprobe vhost_net"


def test_of_simulated_counts_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {one.name: one for one in guests.judge_simulation([say("kernel", "ok", "there")])}
    assert set(found) == {"plugin", "ip", "nft"}
    assert found["plugin"].note == "cc refused the sources; it counts in it"
    for name in ("_check_plugin", "_require_tool"):
        monkeypatch.setattr(guests, name, lambda *_: None)
    assert [one.name for one in guests.judge_simulation([])] == ["cache model"]
