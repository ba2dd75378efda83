"""The real workflow in guests: made, booted once, measured in, and gone."""

import json
import time
from pathlib import Path

import guests
import pytest
from workflow.support import Checkout, new_checkout

TINY = ("--configfile", "config/virtual_tiny.yaml")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return new_checkout(tmp_path / "checkout")


def guests_of(checkout: Checkout) -> list[Path]:
    """Return the processes that boot the first file system of a checkout."""
    initrd = str(checkout.path / "results/guest/initrd").encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if initrd in path.read_bytes().split(b"\0"):
                found.append(path)
        except OSError:
            continue  # it has just ended
    return found


def test_where_guests_cannot_be_had_their_cells_are_skipped_with_what_helps(
    checkout: Checkout,
) -> None:
    checkout.configure("virtual", kernel="/nowhere/vmlinuz")
    checkout.snakemake("--cores", "1", "tables", *TINY)
    records = checkout.records()
    assert {record["status"] for record in records if record["testbed"]} == {"measured"}
    skipped = [record for record in records if record["cell"]["testbed"].startswith("vm_")]
    assert {record["status"] for record in skipped} == {"skipped"}
    assert all("/nowhere" in one["reason"] or "not found" in one["reason"] for one in skipped)
    assert all(record["remedy"] for record in skipped)


@pytest.mark.needs_guests
@pytest.mark.slow
def test_the_tiny_grid_is_measured_in_one_boot(checkout: Checkout) -> None:
    checkout.configure("virtual", kernel=str(guests.kernel().image))
    checkout.snakemake("--cores", "1", *TINY)
    guest = json.loads((checkout.path / "results/guest.json").read_text())
    assert guest["identity"]["kernel_release"] == guests.kernel().release
    assert guest["virtual"]["spec"]["accelerator"] == "tcg"
    records = [one for one in checkout.records() if one["cell"]["testbed"].startswith("vm_")]
    assert len(records) == 10
    assert [(one["status"], one["reason"]) for one in records if one["status"] != "measured"] == []
    boots = {one["testbed"]["virtual"]["boot_s"]["a"] for one in records}
    assert len(boots) == 1
    for record in records:
        assert record["testbed"]["machines"]["sender"]["kind"] == "guest"
        (inside,) = record["observed"]["hypervisor"]["guests"]
        assert inside["threads"]["vcpu"]["cpu_ns"] > 0
    assert (checkout.path / "results/report/report.html").exists()
    deadline_s = time.monotonic() + 10
    while guests_of(checkout) and time.monotonic() < deadline_s:
        time.sleep(0.1)
    assert guests_of(checkout) == []
    assert checkout.planned(*TINY) == {}
