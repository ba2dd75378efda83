"""Real repetitions of a way to send and the reference, in turns."""

import os
import shutil
import signal
from itertools import pairwise
from typing import Any

import pytest
from c.conftest import make_build
from c.variants import sender_variant
from measured.failures_support import RECEIVER, Bench, descendants, need_testbed, programs_of

from copycost.records.derive import derive_row
from copycost.records.record import read_record
from copycost.studies.round_trips.table import derive_round_trips

PAIR = ("--reference", "two_copy")
ASKING = ("--study", "round_trips", "--msg-bytes", "4KiB")


def both_ways(driver: Any) -> list[tuple[Any, list[list[int]]]]:  # noqa: ANN401 - JSON
    """Return what each of the two told, with its own slices, which are in turns."""
    slices = driver["slices"]
    assert [one[0] for one in slices] == [0, 1, 1, 0] * (len(slices) // 4)
    assert all(before[2] <= after[1] for before, after in pairwise(slices))
    ways = (driver, driver["reference"])
    return [(its, [one for one in slices if one[0] == way]) for way, its in enumerate(ways)]


@pytest.mark.parametrize(
    ("testbed", "implementation"),
    [
        ("veth", "two_copy"),
        ("veth", "zero_copy"),
        ("loopback", "uring_send"),
        ("sink", "zero_copy"),
    ],
)
def test_both_send_in_turns_and_each_counts_its_own(
    bench: Bench, testbed: str, implementation: str
) -> None:
    need_testbed(testbed)
    options = ("--testbed", testbed, "--threads", "2", "--msg-bytes", "16384")
    ended = bench.measure(*options, *PAIR, implementation=implementation)
    record = bench.record()
    if record["status"] == "skipped":
        pytest.skip(record["reason"])
    assert ended.code == 0, ended.text
    read_record(bench.record_path)
    driver = record["driver"]
    for its, own in both_ways(driver):
        assert all(end > start and n_bytes > 0 for _, start, end, n_bytes, *_ in own)
        sent = sum(one[3] for one in own)
        assert its["sender"]["in_window"]["bytes"] == sent
        if its["receiver"] is not None:
            late = 2 * its["receiver"]["options"]["receive_lowat_bytes"]
            assert abs(its["receiver"]["in_window"]["bytes"] - sent) <= 2 * late
    row = derive_row(record)
    assert row["reference"] == "two_copy"
    assert row["throughput_bits_per_s"] > 0
    assert row["reference_sender_cpu_ns_per_byte"] > 0


@pytest.mark.parametrize(
    ("testbed", "implementation"), [("veth", "two_copy"), ("loopback", "zero_copy")]
)
def test_both_ask_in_turns_and_each_times_its_own(
    bench: Bench, testbed: str, implementation: str
) -> None:
    need_testbed(testbed)
    options = (*ASKING, *PAIR, "--testbed", testbed, "--threads", "2", "--duration", "0.2")
    ended = bench.measure(*options, implementation=implementation)
    assert ended.code == 0, ended.text
    record = read_record(bench.record_path)
    driver = record["driver"]
    assert driver is not None
    for its, own in both_ways(driver):
        sender, times = its["sender"], its["sender"]["round_trip"]
        n_bytes = sum(one[3] for one in own)
        assert n_bytes == sender["in_window"]["bytes"] == its["receiver"]["in_window"]["bytes"]
        assert times["samples"] == sender["in_window"]["messages"] == n_bytes / 4096 > 0
        # the warm-up and the other's turns are in none of them
        assert times["samples"] < sender["total"]["messages"]
        most_ns = 2 * sum(end - start for _, start, end, *_ in own)
        assert times["samples"] * times["mean_ns"] <= most_ns
    row = derive_round_trips(record)
    assert row["reference"] == "two_copy"
    for name in ("p50_ns", "both_cpu_ns_per_round_trip"):
        assert min(row[name], row[f"reference_{name}"]) > 0


def test_a_warm_up_longer_than_any_wait_keeps_nobody_from_measuring(bench: Bench) -> None:
    long = ("--warmup", "3", "--duration", "0.1", "--io-timeout", "1")
    ended = bench.measure("--testbed", "loopback", *long, *PAIR)
    assert ended.code == 0, ended.text


@pytest.mark.parametrize(("nth", "study"), list(enumerate(2 * ["streams", "round_trips"])))
def test_who_dies_in_a_turn_is_named_and_nothing_is_left(
    bench: Bench, nth: int, study: str
) -> None:
    long = ("--warmup", "0.05", "--duration", "600", "--study", study)
    with bench.started(*long, *PAIR, implementation="zero_copy") as running:
        running.wait_for("window begins")
        ours = {"sender_zero_copy", "sender_two_copy", RECEIVER}
        below = descendants(running.process.pid)
        pids = [pid for pid in below if programs_of(pid)[:1] and programs_of(pid)[0] in ours]
        os.kill(pids[nth], signal.SIGKILL)
        ended = running.end_and_leave_nothing()
    assert ended.code == 1
    reason, _ = bench.told("failed")
    assert "was killed by SIGKILL" in reason or "died without" in reason


def planted(
    bench: Bench, factory: pytest.TempPathFactory, name: str, before: str, statement: str
) -> tuple[str, str]:
    """Return the option for programs whose zero_copy is two_copy and, behind a text, one more."""
    change = {name: (before, f"{before}    {statement}\n")}
    slow = sender_variant(make_build(factory, "plain"), "two_copy", bench.records, change)
    folder = bench.folder / "planted"
    folder.mkdir(exist_ok=True)
    for name, program in (
        ("sender_zero_copy", slow),  # under the other's name, so that both can be had
        ("sender_two_copy", bench.folder / "bin" / "sender_two_copy"),
        (RECEIVER, bench.folder / "bin" / RECEIVER),
    ):
        shutil.copy(program, folder / name)
    return "--bin", str(folder)


SEND = ("strategies/two_copy.c", "static int two_copy_send_messages(struct stream *stream)\n{\n")


@pytest.mark.alone
def test_a_planted_cost_is_found(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> None:
    spin = "for (volatile int i = 0; i < 200000; i++) {}"
    programs = planted(bench, tmp_path_factory, *SEND, spin)
    bench.measure(*programs, *PAIR, implementation="zero_copy")
    row = derive_row(bench.record())
    cost = "sender_cpu_ns_per_byte"
    assert row[cost] > 1.5 * row[f"reference_{cost}"]


def test_a_worker_that_wakes_late_misses_its_turn_and_no_more(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory
) -> None:
    late = (
        "static int n; (void)pthread_mutex_unlock(&crew->mutex); if (n++ == 0) "
        "nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL); "
        "(void)pthread_mutex_lock(&crew->mutex);"
    )
    wait = (
        "(crew->n_phases == seen) {\n"
        "            (void)pthread_cond_wait(&crew->changed, &crew->mutex);\n"
    )
    programs = planted(bench, tmp_path_factory, "session/threads.c", wait, late)
    ended = bench.measure(*programs, *PAIR, "--duration", "0.4", implementation="zero_copy")
    assert ended.code == 0, ended.text
    row = derive_row(read_record(bench.record_path))
    assert row["throughput_bits_per_s"] > 0


@pytest.mark.alone
def test_a_planted_call_and_its_time_are_found_in_round_trips(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory
) -> None:
    nap = "nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);"
    counted = "count(stream->counters, COUNT_OTHER_CALLS, 1);"
    programs = planted(bench, tmp_path_factory, *SEND, f"{nap} {counted}")
    bench.measure(*programs, *ASKING, *PAIR, "--duration", "0.2", implementation="zero_copy")
    row = derive_round_trips(read_record(bench.record_path))
    # a request is sent and its answer received, each in one call
    name = "sender_syscalls_per_round_trip"
    assert (row[name], row[f"reference_{name}"]) == (3, 2)
    assert row["p50_ns"] >= 2e6 > row["reference_p50_ns"]
    assert row["round_trips_per_s"] <= 500 < row["reference_round_trips_per_s"]
