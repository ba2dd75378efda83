"""A machine, a guest and its hypervisor were not busier than they can be, or a sentence says so."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from sample_records import guest_entry, in_guests, sample_record

from copycost.errors import DataError
from copycost.grid.cells import Cell
from copycost.records.contradictions import require_possible_machines
from copycost.records.reading import problem_of, read_all
from copycost.records.record import Record, check_record

MS = 1_000_000


def on_machines(kind: str = "ssh", **changed: int) -> dict[str, Any]:
    """Return a record of two machines over 1 s, with values of the receiver's changed [ms]."""
    record = sample_record(testbed="wire")
    record["testbed"]["machines"]["receiver"]["kind"] = kind
    names = ("tcp_retransmitted_segments", "udp_in_errors", "udp_receive_buffer_errors",
             "softnet_dropped", "softnet_squeezed", "task_ns", "steal_ns",
             "throttle_count")  # fmt: skip
    sender = dict.fromkeys(names, 0) | {"busy_ns": 3_000 * MS, "softirq_ns": 900 * MS}
    sender["at_ns"] = 1_000 * MS
    receiver = sender | {name: value * MS for name, value in changed.items()}
    record["observed"]["kernel"]["machines"] = {"sender": sender, "receiver": receiver}
    return with_vcpus(record, 4)


def with_vcpus(record: dict[str, Any], vcpus: int) -> dict[str, Any]:
    record["testbed"]["virtual"] = {
        "accelerator": "tcg", "vcpus": vcpus, "memory_bytes": 1 << 28, "network_device": "virtio",
        "vhost": False, "offloads": True, "boot_s": {"one": 3.0},
    }  # fmt: skip
    return record


def guested(*path: str, value: int, vcpus: int = 1) -> dict[str, Any]:
    """Return a record of a guest over 1 s, with a value of what its hypervisor tells changed."""
    record = in_guests(sample_record(testbed="vm_loopback"), guest_entry("one", "sender"))
    *sections, key = path
    place = record["observed"]["hypervisor"]
    for section in sections:
        place = place[0] if section == "first" else place[section]
    place[key] = value
    return with_vcpus(record, vcpus)


INSIDE = ("guests", "first", "inside")
VCPU = ("guests", "first", "threads", "vcpu", "cpu_ns")


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (on_machines(at_ns=0), "the window of the receiver's machine lasts 0 ns"),
        (
            on_machines(busy_ns=9_000_000),
            "the receiver's machine was busy for 9000000000000 ns of 8192 CPUs in 1000000000 ns",
        ),
        (
            on_machines("guest", busy_ns=4_300),
            "the receiver's machine was busy for 4300000000 ns of 4 CPUs in 1000000000 ns",
        ),
        (
            on_machines(softirq_ns=4_100),
            "the receiver's machine was in softirqs for 4100000000 ns and busy for 3000000000 ns",
        ),
        (
            guested("machine", "window_ns", value=0),
            "the window of the guests' machine lasts 0 ns",
        ),
        (
            guested("machine", "busy_ns", value=9_000_000 * MS),
            "the guests' machine was busy for 9000000000000 ns of 8192 CPUs in 1000000000 ns",
        ),
        (
            guested("machine", "softirq_ns", value=2_600 * MS),
            "the guests' machine was in softirqs for 2600000000 ns and busy for 1500000000 ns",
        ),
        (guested(*INSIDE, "window_ns", value=0), "the window of one lasts 0 ns"),
        (
            guested(*INSIDE, "busy_ns", value=1_100 * MS),
            "one was busy for 1100000000 ns of 1 CPUs in 1000000000 ns",
        ),
        (
            guested(*INSIDE, "softirq_ns", value=1_500 * MS),
            "one was in softirqs for 1500000000 ns and busy for 400000000 ns",
        ),
        (
            guested("guests", "first", "window_ns", value=0),
            "the window of the hypervisor of one lasts 0 ns",
        ),
        (
            guested(*VCPU, value=1_400 * MS),
            "the virtual CPUs of one ran for 1400000000 ns in 1 threads and 1000000000 ns",
        ),
    ],
)
def test_a_machine_that_was_busier_than_it_can_be_is_refused(
    record: dict[str, Any], said: str, tmp_path: Path
) -> None:
    check_record(record, "here")
    path = tmp_path / Cell(record["study"], **record["cell"]).path
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(record))
    assert str(problem_of(path)).startswith(f"{path}: {said}; expected numbers that agree, so the")
    # of every study, whatever is made of the record
    with pytest.raises(DataError, match="the record was damaged: delete it"):
        read_all([path], lambda _: None)
    # and of the run that a profile is compared with
    with pytest.raises(DataError) as caught:
        require_possible_machines(cast("Record", sample_record(undisturbed=record)))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "record",
    [
        sample_record(),
        sample_record(status="failed"),
        on_machines(),
        # nothing says how many CPUs it has
        on_machines(busy_ns=128_000),
        # a few ms idle time too little, as the kernel corrects what it has counted
        on_machines("guest", busy_ns=4_010),
        # an idle machine, whose parts are rounded each, with ticks that all met a softirq
        on_machines(busy_ns=-10, softirq_ns=1_000),
        guested(*INSIDE, "busy_ns", value=1_900 * MS, vcpus=2),
        # the hypervisor's threads were read while others had the CPUs
        guested(*VCPU, value=1_200 * MS),
    ],
)
def test_what_clocks_and_ticks_explain_is_no_contradiction(record: dict[str, Any]) -> None:
    check_record(record, "here")
    require_possible_machines(cast("Record", record))
