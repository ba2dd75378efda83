"""The real workflow in guests: made, booted once, measured and profiled in, told, and gone."""

import json
import re
import sys
from pathlib import Path

import guests
import pytest
import yaml
from programs import until
from report.checks import check_html, chromium, open_browser
from workflow.support import Checkout

from copycost.hosts.guest.image import symbols_of

TINY = ("--configfile", "config/virtual_tiny.yaml")
PROFILED = {
    "streams": {"testbeds": ["loopback", "vm_loopback", "vm_host"]},
    "measure": {"duration_s": 0.4},  # for a host that is busy with other tests too
    "profile": {
        "enabled": True,
        "implementations": ["two_copy"],
        "testbeds": ["vm_loopback"],
        "differences": [],
        "repetitions": 1,
        "duration_s": 1.0,
        "frequency_hz": 999,
    },
}


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


@pytest.mark.parametrize(("name", "most_s"), [("virtual", 900), ("virtual_tiny", 60)])
def test_grids_in_guests_end_in_the_time_that_they_promise(
    checkout: Checkout, name: str, most_s: int
) -> None:
    said = checkout.dry("--configfile", f"config/{name}.yaml").stdout
    told = re.search(r"all in all about (\d+) (s|min)\.", said)
    assert told is not None, said
    assert int(told[1]) * {"s": 1, "min": 60}[told[2]] <= most_s


def test_where_guests_cannot_be_had_their_cells_are_skipped_with_what_helps(
    built: Checkout,
) -> None:
    built.configure("virtual", kernel="/nowhere/vmlinuz")
    simulated = yaml.safe_load((built.path / "config/tiny.yaml").read_text())["simulated"]
    (built.path / "simulated.yaml").write_text(yaml.safe_dump({"simulated": simulated}))
    built.snakemake("--cores", "1", "tables", "simulated", *TINY, "simulated.yaml")
    raw = built.path / "results/raw/simulated"
    counted = [json.loads(path.read_text()) for path in raw.rglob("*.json")]
    records = built.records()
    assert {record["status"] for record in records if record["testbed"]} == {"measured"}
    skipped = [record for record in records if record["cell"]["testbed"].startswith("vm_")]
    assert len(counted) == 6
    for record in (*skipped, *counted):
        assert record["status"] == "skipped"
        assert "/nowhere" in record["reason"] or "not found" in record["reason"]
        assert record["remedy"]
    facts = json.loads((built.path / "results/simulated/facts.json").read_text())
    assert (facts["n_counted"], facts["n_cells"], facts["machine"]) == (0, 6, None)


@pytest.mark.needs_guests
@pytest.mark.slow
def test_the_tiny_grid_is_measured_in_one_boot(built: Checkout) -> None:
    built.configure("virtual", kernel=str(guests.kernel().image))
    (built.path / "profiled.yaml").write_text(yaml.safe_dump(PROFILED), encoding="utf-8")
    asked = (*TINY, "profiled.yaml")
    built.snakemake("--cores", "1", *asked)
    guest = json.loads((built.path / "results/guest.json").read_text())
    assert guest["identity"]["kernel_release"] == guests.kernel().release
    assert guest["virtual"]["spec"]["accelerator"] == "tcg"
    records = [one for one in built.records() if one["cell"]["testbed"].startswith("vm_")]
    assert len(records) == 11
    assert [(one["status"], one["reason"]) for one in records if one["status"] != "measured"] == []
    boots = {one["testbed"]["virtual"]["boot_s"]["a"] for one in records}
    assert len(boots) == 1
    assert max(boots) < 20.0  # 2 s where nothing else runs; more is a driver that waits
    for record in records:
        assert record["testbed"]["machines"]["sender"]["kind"] == "guest"
        (inside,) = record["observed"]["hypervisor"]["guests"]
        assert inside["threads"]["vcpu"]["cpu_ns"] > 0
    tell_of_guests(built.path / "results/report")
    until(lambda: not guests_of(built))
    assert built.planned(*asked) == {}


def tell_of_guests(report: Path) -> None:
    """Check that a report has what guests cost, and the profile of one and of its hypervisor."""
    text = (report / "report.qmd").read_text(encoding="utf-8")
    assert "{#tbl-virtual-work" in text
    assert "{#tbl-profile-way-vm-loopback-" in text
    if symbols_of(Path(sys.executable)) is not None:
        assert re.search(r"\| application's copy \|.*`__memmove_", text)
    if chromium() is not None:
        with open_browser() as browser:
            check_html(report / "report.html", browser)
