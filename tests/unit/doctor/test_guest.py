"""A guest that does not come up is a fact of the run, and not its end."""

from pathlib import Path
from typing import Any, Literal

import pytest

from copycost.config.cells import Cell
from copycost.config.settings import Settings
from copycost.config.virtual import Virtual
from copycost.doctor import collect
from copycost.hosts.guest.host import GuestFailed
from copycost.hosts.guest.qemu import GuestSpec
from copycost.measure.repetition import Task, measure_repetition

MADE = {"unavailable": None, "kernel": {"release": "6.1", "source": "a test"}, "tools": {}}


@pytest.fixture(autouse=True)
def kvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host where the kernel of a guest comes up with KVM."""
    monkeypatch.setattr("copycost.hosts.guest.build_image.find_qemu", lambda: "/usr/bin/qemu")
    monkeypatch.setattr("copycost.hosts.guest.build_image.kvm_refusal", lambda *_: None)


def collected(
    monkeypatch: pytest.MonkeyPatch,
    accelerator: Literal["auto", "kvm", "tcg"],
    failures: dict[str, GuestFailed],
) -> dict[str, Any]:
    def describe(settled: dict[str, Any]) -> dict[str, Any]:
        spec = GuestSpec(**settled["spec"])
        if spec.accelerator in failures:
            raise failures[spec.accelerator]
        return {"cpu": {"model": spec.accelerator}}

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


def test_a_guest_that_comes_up_without_kvm_only_is_emulated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    facts = collected(monkeypatch, "auto", {"kvm": GuestFailed("its agent died")})
    assert facts["cpu"] == {"model": "tcg"}
    assert facts["virtual"]["unavailable"] is None
    assert facts["virtual"]["spec"]["accelerator"] == "tcg"
    assert facts["virtual"]["kvm"]["usable"] is False
    assert facts["virtual"]["kvm"]["reason"] == "its agent died"


def test_a_guest_that_has_to_have_kvm_is_not_emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = collected(monkeypatch, "kvm", {"kvm": GuestFailed("its agent died")})
    assert facts["virtual"]["unavailable"]["reason"] == "its agent died"
