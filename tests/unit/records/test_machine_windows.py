"""What a byte takes of two machines, and what was lost there."""

from typing import Any, cast

import pytest
from sample_records import sample_record

from copycost.records.derive import derive_row
from copycost.records.machine_windows import machine_columns
from copycost.records.record import Record, check_record
from copycost.records.table import make_table

_DEVICE = {
    "rx_packets": 9, "rx_errors": 1, "rx_dropped": 2, "rx_fifo_errors": 3, "tx_packets": 9,
    "tx_errors": 4, "tx_dropped": 5, "tx_fifo_errors": 6, "tx_carrier_errors": 7,
}  # fmt: skip


def machine(busy_ns: int, **device: object) -> dict[str, Any]:
    names = ("tcp_retransmitted_segments", "udp_in_errors", "udp_receive_buffer_errors",
             "softnet_squeezed", "task_ns", "steal_ns", "throttle_count")  # fmt: skip
    counts = {"busy_ns": busy_ns, "softirq_ns": busy_ns // 4, "softnet_dropped": 8}
    return dict.fromkeys(names, 0) | counts | {"at_ns": 500_000_000} | device


def over_wire() -> dict[str, Any]:
    record = sample_record()
    record["cell"]["testbed"] = record["testbed"]["kind"] = "wire"
    for end, unsure_ns in (("sender", 0), ("receiver", 4_000)):
        record["testbed"]["machines"][end]["clock_uncertainty_ns"] = unsure_ns
    record["observed"]["kernel"]["machines"] = {
        "sender": machine(100_000_000, device=_DEVICE),
        "receiver": machine(300_000_000),
    }
    return record


def test_machine_that_is_busy_for_a_share_of_its_window_is_of_that_many_cpus() -> None:
    record = over_wire()
    check_record(record, "here")
    row = derive_row(cast("Record", record))
    bytes_per_s = cast("float", row["throughput_bits_per_s"]) / 8
    for side, cpus in (("sender", 0.2), ("receiver", 0.6)):
        cost = row[f"{side}_machine_cpu_ns_per_byte"]
        assert cost == pytest.approx(cpus * 1e9 / bytes_per_s)
        assert row[f"{side}_machine_softirq_cpu_ns_per_byte"] == pytest.approx(cost / 4)
        assert row[f"{side}_softnet_dropped"] == 8
    assert row["clock_uncertainty_ns"] == 4_000
    # parts of an idle machine's time are rounded each
    record["observed"]["kernel"]["machines"]["sender"] |= machine(-10)
    row = make_table([derive_row(cast("Record", record))]).iloc[0]
    assert row["sender_machine_cpu_ns_per_byte"] == 0


def test_drops_of_a_device_that_was_not_counted_are_missing_and_not_0() -> None:
    row = make_table([derive_row(cast("Record", over_wire()))]).iloc[0]
    assert (row["sender_device_rx_errors"], row["sender_device_tx_carrier_errors"]) == (1, 7)
    assert row[[name for name in row.index if name.startswith("receiver_device_")]].isna().all()
    row = make_table([derive_row(cast("Record", sample_record()))]).iloc[0]  # within one machine
    assert row[[column.name for column in machine_columns()]].isna().all()
