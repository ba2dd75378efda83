"""What guests, their hypervisors and machines use, and where what one tells is not believed."""

import math
from typing import Any, cast

import pytest
from sample_records import guest_entry, in_guests, sample_record, with_round_trips

from copycost.records.cpu_attribution import cost_columns, costs_of, overhead, use_columns, use_of
from copycost.records.derive import Row, derive_row
from copycost.records.record import Record, check_record
from copycost.records.table import make_table
from copycost.studies.round_trips.table import derive_round_trips

PAIR = (guest_entry("one", "sender"), guest_entry("two", "receiver"))
NAMES = [column.name for column in (*use_columns(), *cost_columns())]


def row_of(record: dict[str, Any]) -> Row:
    return derive_row(cast("Record", record))


def test_two_guests_are_told_apart() -> None:
    record = in_guests(sample_record(), *PAIR)
    check_record(record, "here")
    use = use_of(record)
    assert use["accelerator"] == "tcg"
    assert use["sender_guest_status"] == use["receiver_guest_status"] == "counted"
    assert set(NAMES) - use.keys() == {column.name for column in cost_columns()}
    for side in ("sender", "receiver"):
        told = {name: use[f"{side}_{name}_percent"] for name in (
            "guest_cpu", "vcpu_cpu", "io_cpu", "vhost_cpu", "worker_cpu", "hypervisor_cpu",
            "overhead_cpu", "guest_softirq", "vcpu_waiting", "hypervisor_kernel",
        )}  # fmt: skip
        assert told == pytest.approx({
            "guest_cpu": 40, "vcpu_cpu": 50, "io_cpu": 16, "vhost_cpu": 0, "worker_cpu": 4,
            "hypervisor_cpu": 70, "overhead_cpu": 30, "guest_softirq": 10, "vcpu_waiting": 2,
            "hypervisor_kernel": 15,
        })  # fmt: skip
    assert use["host_cpu_percent"] == pytest.approx(150)
    assert use["host_softirq_cpu_percent"] == pytest.approx(20)


def test_a_guest_that_told_of_another_time_is_not_believed_but_its_hypervisor_is() -> None:
    guest = guest_entry("one", "sender", "receiver")
    guest["inside"]["window_ns"] = 2_000_000_000
    record = in_guests(sample_record(), guest)
    use = use_of(record)
    assert use["sender_guest_status"] == "off_window"
    assert use["sender_hypervisor_cpu_percent"] == pytest.approx(70)
    assert math.isnan(use["sender_guest_cpu_percent"])
    assert math.isnan(use["sender_overhead_cpu_percent"])
    row = make_table([row_of(record)]).iloc[0]
    assert math.isnan(row["sender_overhead_cpu_ns_per_byte"])
    assert row["sender_hypervisor_cpu_ns_per_byte"] > 0


def test_a_round_trip_costs_each_party_what_it_used_over_what_was_answered() -> None:
    record = in_guests(sample_record(), *PAIR)
    row = derive_round_trips(cast("Record", with_round_trips(record)))
    assert row["sender_guest_cpu_ns_per_round_trip"] == pytest.approx(0.4e9 / 20_000)
    assert costs_of(use_of(record), None) == costs_of(use_of(record), float("nan")) == {}


def test_a_guest_used_no_more_than_its_virtual_cpus_ran_whatever_it_counts() -> None:
    assert overhead(60.0, 62.0, 45.0) == pytest.approx(15.0)
    assert overhead(60.0, 40.0, 45.0) == pytest.approx(20.0)
    assert math.isnan(overhead(60.0, math.nan, 45.0))
    guest = guest_entry("one", "sender", "receiver")
    guest["inside"]["busy_ns"] = 900_000_000
    use = use_of(in_guests(sample_record(), guest))
    # the hypervisor's 70 % without the 50 % of its virtual CPUs
    assert use["sender_overhead_cpu_percent"] == pytest.approx(20.0)
