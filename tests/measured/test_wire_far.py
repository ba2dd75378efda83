"""A machine that is 20 ms away, there and back: clocks, windows, rates and accounts over it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sshd
from measured.repetitions import SETTINGS, assert_told, attempted, measured
from measured.test_wire import STREAM, with_wire
from sshd import AHEAD_S, Peer

from copycost.config.cells import Cell
from copycost.observers.kernel_counters import LossCounters
from copycost.observers.process_usage import ProcessUsage
from copycost.records.derive import derive_row
from copycost.studies.datagrams import records as datagrams

pytestmark = [pytest.mark.needs_root, pytest.mark.usefixtures("our_daemon")]
DELAY_S = 0.01
LONG = replace(SETTINGS, warmup_s=0.5, duration_s=2.5)


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    if not Path("/dev/net/tun").exists():
        pytest.skip("no TAP devices here")
    with sshd.peer(tmp_path_factory.mktemp("peer"), DELAY_S) as made:
        yield made


def test_window_that_is_too_short_for_the_way_is_told_how_long_it_has_to_be(
    tmp_path: Path, facts: dict[str, Any]
) -> None:
    for _ in range(3):  # on a busy machine nothing at all may arrive
        record = attempted(tmp_path, STREAM, peer=facts)
        if "nothing arrived" not in str(record["reason"]):
            break
    reason, remedy = "half of the way there and back", "make measure.duration_s 1."
    assert_told(record, "failed", reason, remedy)


@pytest.mark.parametrize("kind", ["wire", "wire_in"])
def test_bytes_over_a_long_way_are_measured_and_the_clock_is_as_good_as_said(
    tmp_path: Path, facts: dict[str, Any], kind: str
) -> None:
    cell = replace(STREAM, testbed=kind, n_threads=1)
    for _ in range(3):  # on a busy machine a connection may be silent for too long
        record = attempted(tmp_path, cell, settings=LONG, peer=facts)
        if "the connection to" not in str(record["reason"]):
            break
    assert record["status"] == "measured", record["reason"]
    machine = record["testbed"]["machines"]["receiver" if kind == "wire" else "sender"]
    assert machine["clock_uncertainty_ns"] >= DELAY_S * 1e9
    assert abs(machine["clock_offset_ns"] - AHEAD_S * 10**9) <= machine["clock_uncertainty_ns"]
    row = derive_row(record)
    # no more than the sender's buffer can be under way
    sent, buffer = row["throughput_bits_per_s"], row["send_buffer_bytes"]
    assert isinstance(sent, float)
    assert isinstance(buffer, int)
    assert 0 < sent <= 8 * buffer / (2 * DELAY_S)


def test_goodbyes_that_are_said_again_before_they_can_be_answered_are_no_loss(
    tmp_path: Path, facts: dict[str, Any]
) -> None:
    slow = with_wire(facts, udp_mbit_per_s=10)
    cell = Cell("datagrams", "wire_udp", "two_copy", 1400, 1)
    record = measured(tmp_path, cell, ProcessUsage(), LossCounters(), settings=LONG, peer=slow)
    assert datagrams.row_of(record, cell)["lost_unaccounted"] == 0
