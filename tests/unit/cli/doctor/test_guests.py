"""What the doctor says of virtual machines; one that does not come up does not end a run."""

from pathlib import Path
from typing import Any, Literal

import pytest

from copycost.cli.doctor import collect, guests
from copycost.cli.doctor.findings import say
from copycost.config.cells import Cell
from copycost.config.config import Virtual
from copycost.config.settings import Settings
from copycost.errors import HostError, Unavailable
from copycost.hosts.guest.host import GuestFailed
from copycost.hosts.guest.qemu import GuestSpec
from copycost.measure.repetition import Task, measure_repetition

MADE = {"unavailable": None, "kernel": {"release": "6.1", "source": "a test"}, "tools": {}}


@pytest.fixture
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


@pytest.mark.usefixtures("bare")
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


@pytest.mark.usefixtures("bare")
def test_of_simulated_counts_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {one.name: one for one in guests.judge_simulation([say("kernel", "ok", "there")])}
    assert set(found) == {"plugin", "ip", "nft"}
    assert found["plugin"].note == "cc refused the sources; it counts in it"
    for name in ("_check_plugin", "_require_tool"):
        monkeypatch.setattr(guests, name, lambda *_: None)
    assert [one.name for one in guests.judge_simulation([])] == ["cache model"]


def collected(
    monkeypatch: pytest.MonkeyPatch,
    accelerator: Literal["auto", "kvm", "tcg"],
    failures: dict[str, GuestFailed],
) -> dict[str, Any]:
    """Return what is collected on a host where the kernel of a guest comes up with KVM."""

    def describe(settled: dict[str, Any]) -> dict[str, Any]:
        spec = GuestSpec(**settled["spec"])
        if spec.accelerator in failures:
            raise failures[spec.accelerator]
        return {"cpu": {"model": spec.accelerator}}

    monkeypatch.setattr("copycost.hosts.guest.build_image.find_qemu", lambda: "/usr/bin/qemu")
    monkeypatch.setattr("copycost.hosts.guest.build_image.kvm_refusal", lambda *_: None)
    monkeypatch.setattr(collect, "_described", describe)
    virtual = Virtual(accelerator, 1, 512, "virtio", "auto", offloads=True, kernel="auto")
    return collect.collect_guest(virtual, MADE, Path("kernel"), Path("initrd"))


@pytest.mark.parametrize(
    ("reason", "helps"),
    [
        ("the guest panicked", "virtual.kernel"),
        ("the guest ran out of memory", "virtual.memory_mib"),
    ],
)
def test_a_guest_that_does_not_come_up_fails_its_cells_with_what_helps(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, reason: str, helps: str
) -> None:
    facts = collected(monkeypatch, "tcg", {"tcg": GuestFailed(reason)})
    cell = Cell("streams", "vm_loopback", "two_copy", 65536, 1)
    task = Task(
        cell,
        Settings(warmup_s=0.1, duration_s=0.1, congestion_control="cubic"),
        {"digest": "d"},
        driver=None,  # type: ignore[arg-type]  # nothing is to be driven
        lock_path=tmp_path / "lock",
        peer=facts,
    )
    record = measure_repetition(task)
    assert (record["status"], record["reason"]) == ("failed", reason)
    assert helps in str(record["remedy"])
    assert "retry-failed" in str(record["remedy"])


def test_a_guest_that_comes_up_without_kvm_only_is_emulated_unless_it_has_to_have_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    died = {"kvm": GuestFailed("its agent died")}
    facts = collected(monkeypatch, "auto", died)
    assert facts["cpu"] == {"model": "tcg"}
    assert facts["virtual"]["unavailable"] is None
    assert facts["virtual"]["spec"]["accelerator"] == "tcg"
    assert facts["virtual"]["kvm"]["usable"] is False
    assert facts["virtual"]["kvm"]["reason"] == "its agent died"
    has_to = collected(monkeypatch, "kvm", died)
    assert has_to["virtual"]["unavailable"]["reason"] == "its agent died"
