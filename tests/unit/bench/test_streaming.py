import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from copycost.bench.iperf import Stream
from copycost.bench.pair import BARE, Programs, message_ns, received_rate, run_pair
from copycost.bench.streaming import Bench, contenders_of, ratio_row, sampling_rows
from copycost.errors import HostError
from copycost.testbed.testbed import open_testbed

ROOT = Path(__file__).parents[3]
STREAM = Stream(4096, 1, 0, 1, sender_cpus=(), receiver_cpus=())


@pytest.fixture(scope="module")
def programs() -> Iterator[Programs]:
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(Path(folder))
        programs.build(["null"], ROOT)
        yield programs


def bench(programs: Programs, rounds: int = 3) -> Bench:
    with open_testbed("loopback") as testbed:
        return Bench(testbed, programs, 0, rounds, STREAM, seed=1)


def test_each_round_holds_each_contender_once_in_an_order_of_its_own(programs: Programs) -> None:
    calls: list[str] = []

    def contender(name: str) -> float:
        calls.append(name)
        return float(len(calls))

    names = ["a", "b", "c", "d"]
    results = bench(programs, rounds=6).in_rounds(
        {name: lambda name=name: contender(name) for name in names}
    )
    rounds = [calls[i : i + 4] for i in range(0, 24, 4)]
    assert all(sorted(order) == names for order in rounds)
    assert len({tuple(order) for order in rounds}) > 1
    assert all(len(results[name]) == 6 for name in names)


def test_each_program_enters_the_ratio_with_its_better_placement() -> None:
    row = ratio_row(
        replace(STREAM, msg_bytes=65536, n_streams=4),
        {
            "two_copy pinned": [2e9, 6e9, 8e9],
            "two_copy free": [1e9, 1e9, 1e9],
            "iperf3 pinned": [1e9, 1e9, 9e9],
            "iperf3 free": [2e9, 2e9, 2e9],
        },
    )
    assert row.value == 3.0
    assert (row.low, row.high, row.n) == (1.0, 4.0, 3)
    assert row.name == "two_copy / iperf3, 64 KiB, 4 streams"
    assert "two_copy free 1.0" in row.note


def test_contenders_are_both_programs_in_both_placements(programs: Programs) -> None:
    names = set(contenders_of(bench(programs), STREAM))
    assert names == {"two_copy pinned", "two_copy free", "iperf3 pinned", "iperf3 free"}


def test_cost_of_samples_is_what_they_add_to_the_bare_loop() -> None:
    times = {
        "null": [12.0, 13.0],
        "null" + BARE: [10.0, 10.0],
        "two_copy": [1010.0, 1000.0],
        "two_copy" + BARE: [1000.0, 1000.0],
    }
    alone, in_throughput = sampling_rows("4 KiB", times)
    assert alone.value == pytest.approx(0.25)
    assert alone.limit is not None
    assert in_throughput.value == pytest.approx(0.5)
    assert in_throughput.limit is None


@pytest.mark.slow
@pytest.mark.parametrize("sender", ["null", "null" + BARE])
def test_real_pair_gives_a_rate_and_a_time_per_message(programs: Programs, sender: str) -> None:
    with open_testbed("loopback") as testbed, tempfile.TemporaryFile() as lock:
        measured = run_pair(testbed, programs, sender, STREAM, lock.fileno())
    assert received_rate(measured) == 0  # it sends nothing
    assert message_ns(measured) > 0
    samples = measured.sender["service_time"]["samples"]
    assert (samples == 0) == sender.endswith(BARE)


def test_program_that_fails_is_named(programs: Programs) -> None:
    broken = programs.sender("broken")
    broken.write_text("#!/bin/sh\necho 'sender: broken: no luck' >&2\nexit 1\n")
    broken.chmod(0o755)
    with (
        open_testbed("loopback") as testbed,
        tempfile.TemporaryFile() as lock,
        pytest.raises(HostError, match="broken failed"),
    ):
        run_pair(testbed, programs, "broken", STREAM, lock.fileno())
