"""What the doctor says of virtual machines and simulated counts."""

import pytest

from copycost.doctor.findings import judge_guests
from copycost.doctor.simulation_needs import require_plugins
from copycost.errors import Unavailable
from copycost.hosts.guest.needs import Need

HELP = "-no-reboot      exit instead of rebooting\n-plugin [file=]<file>[,<argname>=<argvalue>]\n"


@pytest.mark.parametrize(
    ("version", "options", "reason"),
    [
        ("QEMU emulator version 6.2.0 (Debian 1:6.2)", HELP, "has version 6.2, and plugins"),
        ("who knows", HELP, "has no version number"),
        ("QEMU emulator version 8.2.2", "-no-reboot\n", "was built without plugins"),
    ],
)
def test_a_qemu_without_plugins_is_refused(version: str, options: str, reason: str) -> None:
    with pytest.raises(Unavailable, match=reason):
        require_plugins(f"{version}\n{options}")


def test_what_is_there_is_ok_and_what_is_not_has_a_reason_and_a_remedy() -> None:
    there = Need("QEMU", "runs them", "QEMU emulator version 7.2.22 (Debian 1:7.2)")
    missing = Need("KVM", "is fast", None, necessary=False, reason="there is no /dev/kvm")
    vital = Need("busybox", "is first", None, reason="there is none", remedy="install it")
    found = list(judge_guests([there, missing, vital]))
    assert [one.state for one in found] == ["ok", "limited", "missing"]
    assert found[0].value == "7.2.22"
    assert found[1].note == "there is no /dev/kvm; it is fast"
    assert found[2].remedy == "install it"
