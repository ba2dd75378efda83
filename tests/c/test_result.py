"""What the result says: that its parts agree, and exactly so many messages if asked."""

import os
from dataclasses import replace
from typing import Any

import pytest
from c.conftest import Build
from c.harness import Setting, assert_failed, greeted, results, run_pair


def of_plain(build: Build, setting: Setting) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the results of two_copy and its receiver."""
    return results(*build.pair("two_copy"), setting)


def test_window_is_a_part_of_the_whole(plain_build: Build) -> None:
    for result in of_plain(plain_build, Setting(n_threads=3)):
        window, inside, total = result["window"], result["in_window"], result["total"]
        assert window["planned_start_ns"] <= window["start_ns"] < window["half_ns"]
        assert window["half_ns"] < window["end_ns"]
        assert window["planned_end_ns"] <= window["end_ns"]
        assert window["planned_end_ns"] - window["planned_start_ns"] == 100_000_000
        assert 0 <= inside["first_half_bytes"] <= inside["bytes"] <= total["bytes"]
        assert sum(thread["bytes"] for thread in result["threads"]) == inside["bytes"]
        assert result["process"]["cpu_ns"] > 0


def test_pinned_threads_run_where_they_are_told(plain_build: Build) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    first, last = cpus[0], cpus[-1]
    setting = Setting(
        n_threads=3,
        sender_options=["--cpus", f"{first},{last}"],
        receiver_options=["--cpus", f"{last}"],
    )
    sent, received = of_plain(plain_build, setting)
    ran = [(thread["cpu_start"], thread["cpu_end"]) for thread in sent["threads"]]
    assert ran == [(first, first), (last, last), (first, first)]
    assert {thread["cpu_end"] for thread in received["threads"]} == {last}
    assert sent["options"]["cpus"] == [first, last]


@pytest.mark.parametrize("nodelay", ["on", "off"])
def test_socket_options_are_set_and_read_back(plain_build: Build, nodelay: str) -> None:
    options = ["--nodelay", nodelay, "--sndbuf-bytes", "100000", "--rcvbuf-bytes", "50000"]
    setting = Setting(
        sender_options=options, receiver_options=[*options, "--rcvlowat-bytes", "3000"]
    )
    sent, received = of_plain(plain_build, setting)
    for result in (sent, received):
        effective = result["effective"]
        assert effective["tcp_nodelay"] is (nodelay == "on")
        # The kernel doubles what it is given, for its own bookkeeping (socket(7)).
        assert effective["send_buffer_bytes"] == 200000
        assert effective["receive_buffer_bytes"] == 100000
        assert effective["mss_bytes"] > 0
    assert received["effective"]["receive_lowat_bytes"] == 3000
    assert sent["effective"]["receive_lowat_bytes"] == 1


def test_service_times_are_in_order_and_as_many_as_sampled(plain_build: Build) -> None:
    setting = Setting(msg_bytes=1000, n_threads=2)
    sent, _ = of_plain(plain_build, setting)
    times = sent["service_time"]
    assert 0 < times["median_ns"] <= times["p99_ns"] <= times["max_ns"]
    assert times["mean_ns"] <= times["max_ns"]
    assert times["sample_every"] == 31
    expected = sent["in_window"]["messages"] / times["sample_every"]
    # The window's edges are seen by the workers a little later than by the counting thread.
    assert times["samples"] == pytest.approx(expected, rel=0.2, abs=100)


@pytest.mark.parametrize(
    ("msg_bytes", "options", "expected"),
    [
        (4095, [], 1),
        (4096, [], 16 * 4096),
        (1 << 20, [], 1 << 20),
        (65536, ["--rcvlowat-bytes", "0"], 1),  # as the kernel does by itself
    ],
)
def test_the_receiver_is_woken_by_message_size(
    plain_build: Build, msg_bytes: int, options: list[str], expected: int
) -> None:
    setting = Setting(msg_bytes=msg_bytes, receiver_options=options)
    sent, received = of_plain(plain_build, replace(setting, sender_options=["--sample-every", "0"]))
    assert received["effective"]["receive_lowat_bytes"] == expected
    nothing = dict.fromkeys(("mean_ns", "median_ns", "p99_ns", "max_ns"))
    assert sent["service_time"] == {"sample_every": 0, "samples": 0, **nothing}


def counted(warmup: int, messages: int) -> tuple[str, ...]:
    """Return the options."""
    return ("--warmup-messages", str(warmup), "--counted-messages", str(messages))


def test_the_window_holds_exactly_the_counted_messages(address_build: Build, strategy: str) -> None:
    setting = Setting(warmup_s=0.5, duration_s=0.7, sender_options=counted(3, 8))
    sent, _ = results(*address_build.pair(strategy), setting)
    assert sent["in_window"]["messages"] == 8
    assert sent["in_window"]["bytes"] == 8 * setting.msg_bytes
    assert sent["total"]["messages"] == 11


@pytest.mark.parametrize(
    ("warmup", "messages", "words"),
    [
        (10**9, 1, ("--warmup-messages", "the window began")),
        (0, 10**9, ("--counted-messages", "the window ended")),
    ],
)
def test_a_window_that_is_too_short_is_said(
    plain_build: Build, warmup: int, messages: int, words: tuple[str, ...]
) -> None:
    setting = Setting(warmup_s=0.05, sender_options=counted(warmup, messages))
    sender, _ = run_pair(plain_build.sender("two_copy"), plain_build.receiver, setting)
    assert_failed(sender, *words)


def test_a_ring_is_shared_by_the_threads_and_no_larger_than_asked(plain_build: Build) -> None:
    options = ["--ring-bytes", str(8 << 20)]
    sent, _ = of_plain(plain_build, Setting(msg_bytes=4096, n_threads=3, sender_options=options))
    ring = sent["ring"]
    assert (7 << 20) < ring["bytes"] <= (8 << 20) == sent["options"]["ring_bytes"]
    assert 1800 < ring["messages"] < 2048
    assert ring["fresh"] is False


def test_a_hot_ring_holds_what_must_be_in_flight(plain_build: Build) -> None:
    for name, n_messages in (("one_copy", 1), ("zero_copy", 128)):
        sent, _ = results(*plain_build.pair(name), Setting(msg_bytes=65536))
        assert sent["ring"]["messages"] == n_messages


def test_a_ring_that_does_not_fit_is_a_failure(plain_build: Build) -> None:
    # More messages than there are numbers for slots: refused before any memory is taken.
    setting = Setting(msg_bytes=1, sender_options=["--ring-bytes", str(1 << 40)])
    with greeted(plain_build.sender("two_copy"), setting) as (sender, _):
        assert_failed(sender.finish(), "ring of 1099511627776 bytes", "Cannot allocate memory")
