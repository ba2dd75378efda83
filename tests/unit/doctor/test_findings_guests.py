"""What the doctor says of virtual machines."""

from copycost.doctor.findings import judge_guests
from copycost.hosts.guest.needs import Need, guest_needs


def test_what_is_there_is_ok_and_what_is_not_has_a_reason_and_a_remedy() -> None:
    there = Need("QEMU", "runs them", "QEMU emulator version 7.2.22 (Debian 1:7.2)")
    missing = Need("KVM", "is fast", None, necessary=False, reason="there is no /dev/kvm")
    vital = Need("busybox", "is first", None, reason="there is none", remedy="install it")
    found = list(judge_guests([there, missing, vital]))
    assert [one.state for one in found] == ["ok", "limited", "missing"]
    assert found[0].value == "7.2.22"
    assert found[1].note == "there is no /dev/kvm; it is fast"
    assert found[2].remedy == "install it"


def test_every_need_is_told_on_any_host() -> None:
    names = [need.name for need in guest_needs()]
    assert names == ["QEMU", "busybox", "kernel", "TAP devices", "KVM", "vhost-net"]
    assert all(need.found or need.reason or not need.necessary for need in guest_needs())
