"""What the doctor says of simulated counts."""

import pytest

from copycost.doctor import simulation_needs as needs
from copycost.doctor.findings import judge_simulation
from copycost.doctor.simulation_needs import require_plugins, simulation_needs
from copycost.errors import Unavailable
from copycost.hosts.guest.needs import Need

HELP = "-no-reboot      exit instead of rebooting\n-plugin [file=]<file>[,<argname>=<argvalue>]\n"


def test_one_line_says_that_nothing_is_missing() -> None:
    (found,) = judge_simulation([Need("plugin", "counts in it", "yes")])
    assert (found.state, found.value) == ("ok", "yes")
    assert "./run simulated" in found.note


def test_what_is_missing_has_its_reason_and_its_remedy() -> None:
    there = Need("plugin", "counts in it", "yes")
    missing = Need("busybox", "is first", None, reason="there is none", remedy="install it")
    (found,) = judge_simulation([there, missing])
    assert (found.state, found.name, found.note) == (
        "missing", "busybox", "there is none; it is first",
    )  # fmt: skip
    assert found.remedy == "install it"


@pytest.fixture
def qemu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "find_qemu", lambda: "/usr/bin/qemu")


@pytest.mark.parametrize(
    ("version", "options", "reason"),
    [
        ("QEMU emulator version 6.2.0 (Debian 1:6.2)", HELP, "has version 6.2, and plugins"),
        ("who knows", HELP, "has no version that it tells"),
        ("QEMU emulator version 8.2.2", "-no-reboot\n", "was built without plugins"),
    ],
)
@pytest.mark.usefixtures("qemu")
def test_a_qemu_without_plugins_is_refused(version: str, options: str, reason: str) -> None:
    texts = {"--version": version, "-help": options}
    with pytest.raises(Unavailable, match=reason):
        require_plugins(lambda _, option: texts[option])


@pytest.mark.parametrize("version", ["7.2.22 (Debian 1:7.2)", "8.2.2", "10.0.2"])
@pytest.mark.usefixtures("qemu")
def test_a_newer_one_with_plugins_is_taken(version: str) -> None:
    texts = {"--version": f"QEMU emulator version {version}", "-help": HELP}
    require_plugins(lambda _, option: texts[option])


def test_every_need_is_tried_on_any_host() -> None:
    guests = [Need(name, "is there", "yes") for name in ("QEMU", "busybox", "kernel", "KVM")]
    found = simulation_needs(guests)
    assert [need.name for need in found] == [
        "QEMU with plugins", "plugin", "busybox", "kernel", "ip", "nft",
    ]  # fmt: skip
    assert all(need.found or need.remedy for need in found)
