"""Emulated guests stay out of what is said over hosts, and are counted."""

from pathlib import Path

import pytest
from sample_records import guest_entry, in_guests, with_round_trips
from unit.compare.hosts.made import Records, host_facts, records_of, write_run

from copycost.compare.hosts.fleet import Fleet, gather
from copycost.compare.hosts.import_archive import read_parcel
from copycost.compare.hosts.merging import merge
from tools.recompute.fleet import _values


def guests(accelerator: str) -> Records:
    """Return streams and round trips on veth and in a guest."""
    found = [
        in_guests(record, guest_entry("g", "sender", "receiver", accelerator=accelerator))
        for record in records_of(start_s=1000, testbed="vm_loopback")
    ]
    found += [
        with_round_trips(
            in_guests(record, guest_entry("g", "sender", "receiver", accelerator=accelerator))
        )
        for record in records_of(start_s=2000, testbed="vm_loopback")
    ]
    return [*records_of(), *found]


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    for name in ("tcg", "kvm"):
        folder = write_run(tmp_path / name, guests(name), host_facts(kernel_release=name))
        merge(read_parcel(folder, name), tmp_path / "fleet")
    return gather(tmp_path / "fleet")


def test_an_emulated_guest_is_no_host_to_compare(fleet: Fleet) -> None:
    for table in ("ratios", "crossovers"):
        conditions = {
            name: set(getattr(of, table)["condition"]) for name, of in fleet.hosts.items()
        }
        assert conditions == {"tcg": {"veth"}, "kvm": {"veth", "vm_loopback"}}
    assert fleet.hosts["tcg"].n_emulated == 12, "streams and round trips"
    assert fleet.hosts["kvm"].n_emulated == 0


def test_recomputation_leaves_it_out(fleet: Fleet, tmp_path: Path) -> None:
    assert len(fleet.hosts) == 2
    for name, places in (("tcg", {"veth"}), ("kvm", {"veth", "vm_loopback"})):
        values = _values(tmp_path / "fleet" / f"host={name}")
        assert set(values["throughput_bits_per_s"]) == places
