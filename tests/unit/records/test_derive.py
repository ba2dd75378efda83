"""From one record to one row."""

from pathlib import Path
from typing import Any, cast

import pytest
from sample_records import beside, guest_entry, in_guests, on_sink, sample_record
from skipped_records import save

from copycost.observers.perf.events import PERF_EVENTS
from copycost.records.columns import COLUMNS, PAIRED
from copycost.records.cpu_attribution import cost_columns, machine_columns
from copycost.records.derive import Row, derive_row
from copycost.records.record import Record, cell_of, read_record
from copycost.records.table import collect_tables, make_table
from tools.recompute.tables import wrong_tables

CAPTURED = Path(__file__).parents[2] / "data/records/measured_veth_zero_copy.json"

DEVICE = {
    "rx_packets": 9, "rx_errors": 1, "rx_dropped": 2, "rx_fifo_errors": 3, "tx_packets": 9,
    "tx_errors": 4, "tx_dropped": 5, "tx_fifo_errors": 6, "tx_carrier_errors": 7,
}  # fmt: skip


def row_of(record: dict[str, Any]) -> Row:
    return derive_row(cast("Record", record))


@pytest.mark.parametrize("status", ["failed", "skipped"])
def test_what_was_not_measured_is_a_row_with_a_reason_and_no_values(status: str) -> None:
    row = make_table([row_of(sample_record(status=status))]).iloc[0]
    assert (row["status"], row["reason"]) == (status, "the sender ended with code 1")
    assert row["sender_cycles_status"] == "not_measured"
    assert row[[column.name for column in COLUMNS if not column.always]].isna().all()


def test_a_record_of_a_host_without_counters_has_statuses_and_costs_in_cpu_time() -> None:
    row = derive_row(read_record(CAPTURED))
    assert list(make_table([row]).columns) == [column.name for column in COLUMNS]
    assert row["sender_cycles"] is None
    assert row["sender_cycles_status"] == "not_supported"
    assert row["both_cycles_per_byte"] is None
    assert cast("float", row["both_cpu_ns_per_byte"]) > 0
    assert cast("float", row["both_ref_cycles_per_byte"]) > 0
    assert row["cpu_source"] == "task_clock"
    assert row["zc_sent"] == row["zc_completed"]
    assert row["zc_copied_share"] == 1.0  # plain veth: the kernel copies after all


def of_wire() -> dict[str, Any]:
    """Return a record of two machines, of which one tells what its device dropped."""
    record = sample_record()
    record["cell"]["testbed"] = record["testbed"]["kind"] = "wire"
    names = ("tcp_retransmitted_segments", "udp_in_errors", "udp_receive_buffer_errors",
             "softnet_squeezed", "task_ns", "steal_ns", "throttle_count")  # fmt: skip
    busy = dict.fromkeys(names, 0) | {"at_ns": 500_000_000, "softnet_dropped": 8}
    record["observed"]["kernel"]["machines"] = {
        "sender": busy | {"busy_ns": 100_000_000, "softirq_ns": 25_000_000, "device": DEVICE},
        "receiver": busy | {"busy_ns": 300_000_000, "softirq_ns": 75_000_000},
    }
    record["testbed"]["machines"]["receiver"]["clock_uncertainty_ns"] = 4_000
    return record


def in_turns() -> dict[str, Any]:
    """Return a record with a reference that takes three times the CPU time."""
    reference = sample_record()
    reference["observed"]["perf_stat"]["sender"]["events"]["task_clock_ns"]["value"] *= 3
    return beside(sample_record("one_copy"), reference)


def test_rows_are_what_is_recomputed_of_their_records(tmp_path: Path) -> None:
    pair = guest_entry("one", "sender"), guest_entry("two", "receiver")
    records = [
        sample_record("zero_copy", n_threads=4), on_sink(sample_record("zero_copy"), lost=2_400),
        in_guests(sample_record(testbed="vm_pair"), *pair), of_wire(), in_turns(),
    ]  # fmt: skip
    for at, record in enumerate(records):
        record |= {"start_ns": at * 10**10, "end_ns": at * 10**10 + 1_500_000_000}
    paths = [save(tmp_path, cell_of(record), cast("Record", record)) for record in records]
    results = tmp_path / "results"
    (results / "config.yaml").write_text(
        "{statistics: {confidence: 0.95, resamples: 100}, measure: {minutes: none}}"
    )
    (results / "tables").mkdir()
    collect_tables(paths, results / "tables/cells.csv", tmp_path / "cells.parquet")
    assert list(wrong_tables(results)) == []
    row = row_of(records[-1])
    assert (row["reference"], row["window_s"], row["received_bytes"]) == ("two_copy", 0.04, 18e6)
    # parts of an idle machine's time are rounded each, and a device may not tell
    records[3]["observed"]["kernel"]["machines"]["sender"]["busy_ns"] = -10
    row = make_table([row_of(records[3])]).iloc[0]
    assert row["sender_machine_cpu_ns_per_byte"] == 0
    assert (row["sender_device_rx_errors"], row["sender_device_tx_carrier_errors"]) == (1, 7)
    assert row[[name for name in row.index if name.startswith("receiver_device_")]].isna().all()
    row = make_table([row_of(sample_record())]).iloc[0]  # within one machine, without guests
    assert row[[column.name for column in (*machine_columns(), *cost_columns())]].isna().all()


def test_a_sink_has_what_was_sent_and_no_receiver() -> None:
    record = on_sink(sample_record("zero_copy"), lost=2_400)
    row = row_of(record)
    assert row["sent_bytes"] == 1_310_720_000
    assert row["received_bytes"] == pytest.approx(0.9 * 1_310_720_000)  # 2400 of 24000 were lost
    assert row["cpu_source"] == "task_clock"
    statuses = {f"receiver_{event}_status" for event in PERF_EVENTS}
    assert {row[name] for name in statuses} == {"no_receiver"}
    absent = {name for name in row if name.startswith(("receiver_", "both_"))} - statuses
    assert {row[name] for name in absent - {"receiver_guest_status"}} == {None}
    make_table([row])


@pytest.mark.parametrize("status", ["forbidden", "missing", "failed"])
def test_without_perf_the_process_clocks_count_and_lost_datagrams_are_told(status: str) -> None:
    record = sample_record(testbed="veth_udp")
    record["driver"]["sender"]["total"]["datagrams"] = 1000
    record["driver"]["receiver"]["total"]["datagrams"] = 990
    record["observed"]["kernel"]["udp_receive_buffer_errors"] = 9
    record["observed"]["perf_stat"]["receiver"] |= {"status": status, "events": {}}
    row = row_of(record)
    assert row["cpu_source"] == "process_clock"
    assert row["sender_cpu_ns"] == row["receiver_cpu_ns"] == 900_000_000
    assert {row[f"receiver_{event}_status"] for event in PERF_EVENTS} == {status}
    assert [row[f"datagrams_{what}"] for what in ("sent", "received", "lost")] == [1000, 990, 10]
    assert row["udp_receive_buffer_errors"] == 9
    make_table([row])


def test_multiplexed_counts_are_kept_and_told_and_missing_ones_leave_gaps() -> None:
    record = sample_record("zero_copy")
    record["driver"]["sender"]["zero_copy"] |= {"copied": None, "copied_unknown": "needs Linux 6.2"}
    sender, receiver = (record["observed"]["perf_stat"][side] for side in ("sender", "receiver"))
    sender["events"]["cycles"] |= {"status": "multiplexed", "running_percent": 62.5}
    receiver["events"]["cycles"] |= {"value": None, "status": "not_counted"}
    receiver["events"]["instructions"]["user_only"] = True
    row = row_of(record)
    assert row["user_mode_only"]
    assert row["sender_cycles"] == 3e9
    assert row["sender_cycles_per_byte"] is not None
    assert row["both_cycles_per_byte"] is row["receiver_cycles_per_byte"] is None
    assert row["sender_cycles_status"] == "multiplexed"
    assert row["sender_min_running_percent"] == 62.5
    assert row["receiver_min_running_percent"] == 100.0
    assert row["zc_copied"] is row["zc_copied_share"] is None
    assert row["zc_copied_unknown"] == "needs Linux 6.2"
    make_table([row])


def test_hardware_counters_that_run_wrongly_are_implausible_and_not_just_gaps() -> None:
    record = sample_record()
    side = record["observed"]["perf_stat"]["sender"]
    side["reason"] = "the hardware counters are live but wrong"
    for name in ("cycles", "instructions"):
        side["events"][name] |= {"value": None, "status": "not_counted"}
    side["events"]["llc_loads"] |= {"value": None, "status": "not_supported"}
    row = row_of(record)
    assert row["sender_instructions_status"] == row["sender_cycles_status"] == "implausible"
    assert row["sender_llc_loads_status"] == "not_supported"
    assert row["sender_ref_cycles_status"] == "counted"
    assert row["receiver_cycles_status"] == "counted"
    make_table([row])


def test_nothing_received_gives_no_infinite_cost() -> None:
    codes = ("steal", "foreign_load", "steal")
    record = sample_record(warnings=[{"code": code, "detail": "a"} for code in codes])
    record["settings"] |= {"sender_cpus": [], "receiver_cpus": [3, 1]}
    for side in ("sender", "receiver"):
        record["driver"][side]["in_window"] |= {"bytes": 0, "first_half_bytes": 0}
        record["driver"][side]["threads"][0]["bytes"] = 0
    record["driver"]["sender"]["in_window"]["messages"] = 0
    row = row_of(record)
    assert row["throughput_bits_per_s"] == 0
    for name in ("both_cycles_per_byte", "service_mean_ns", "first_half_share"):
        assert row[name] is None
    assert (row["sender_cpus"], row["receiver_cpus"]) == ("any", "3,1")
    assert row["warnings"] == "foreign_load;steal"
    make_table([row])


def test_the_row_fills_every_column_there_is() -> None:
    guests = (guest_entry("one", "sender"), guest_entry("two", "receiver"))
    record = in_guests(sample_record("zero_copy"), *guests)
    row = row_of(record)
    # those of the wire, of datagrams, of other receivers, and of what did not go well
    others = {"peer", "mapped_share", "reference", "reason", "remedy", "warnings",
              "zc_copied_unknown", "rate_limit_bits_per_s", "udp_receive_buffer_errors",
              *(f"datagrams_{what}" for what in ("sent", "received", "lost")),
              *(f"reference_{name}" for name in PAIRED),
              *(column.name for column in machine_columns())}  # fmt: skip
    assert {column.name for column in COLUMNS if row.get(column.name) is None} == others


def test_counts_that_began_long_before_the_window_are_left_out_and_the_rest_stays() -> None:
    record = sample_record()
    side = record["driver"]["sender"]
    window_ns = side["window"]["end_ns"] - side["window"]["start_ns"]
    side["window"]["perf_enable_ns"] = window_ns // 8
    clock = record["observed"]["perf_stat"]["sender"]["events"]["task_clock_ns"]
    clock["value"] = window_ns * 9 / 8
    row = derive_row(record)
    assert row["sender_task_clock_ns"] is None
    assert row["sender_task_clock_ns_status"] == row["sender_cycles_status"] == "off_window"
    assert row["receiver_task_clock_ns_status"] == "counted"
    assert row.get("cpu_source") is None
    assert row["both_cpu_ns_per_byte"] is None
    assert row["throughput_bits_per_s"] == derive_row(sample_record())["throughput_bits_per_s"]
