"""What is read at an edge of the window belongs together, wherever the main thread is held up."""

from pathlib import Path
from typing import Any

import pytest
from c.conftest import Build
from c.harness import How, Setting, as_perf, ready_pair, results, window_line
from c.variants import sender_variant

HELD_UP_MS = 400
HOLD_UP = f"clock_sleep_until(clock_now_ns() + {HELD_UP_MS} * NS_PER_MS);"
# before a line of the third reading, which is that of the window's end
HOLD_UP_AT_END = f"static int n_readings; if (++n_readings == 3) {{ {HOLD_UP} }}"
START, END = ("error = window_read(&window->start,", "window_read(&window->end, crew, failure);")


def result_of(
    build: Build, folder: Path, change: tuple[str, str], setting: Setting, how: How | None = None
) -> dict[str, Any]:
    """Return what a sender says whose main thread is held up where a line of it is changed."""
    program = sender_variant(build, "two_copy", folder, {"session/window.c": change})
    sent, _ = results(program, build.receiver, setting, **(how or {}))
    return sent


def window_s(result: dict[str, Any]) -> float:
    return float(result["window"]["end_ns"] - result["window"]["start_ns"]) / 1e9


def test_bytes_and_clock_are_of_one_moment(plain_build: Build, tmp_path: Path) -> None:
    line = "snapshot->sum = (struct counter_values){0};"
    setting = Setting(msg_bytes=1000, sender_options=["--rate", "10000000"])
    change = (line, HOLD_UP_AT_END + line)
    result = result_of(plain_build, tmp_path, change, setting)
    # it makes up for 10 ms at most
    assert result["in_window"]["bytes"] <= 10_000_000 * (window_s(result) + 0.1)


@pytest.mark.parametrize("line", ["snapshot->cpu_ns = clock", "struct rusage usage;"])
def test_cpu_time_and_clock_are_of_one_moment(
    plain_build: Build, tmp_path: Path, line: str
) -> None:
    change = (line, HOLD_UP_AT_END + line)
    result = result_of(plain_build, tmp_path, change, Setting(msg_bytes=1000))
    process = result["process"]
    assert process["cpu_ns"] / 1e9 <= window_s(result) + 0.1
    assert (process["user_ns"] + process["system_ns"]) / 1e9 <= window_s(result) + 0.1


def test_what_perf_counted_outside_the_window_is_told(plain_build: Build, tmp_path: Path) -> None:
    with as_perf(b"ack\n" * 2) as (options, fds, _):
        setting, how = Setting(sender_options=options), How(pass_fds=fds)
        result = result_of(plain_build, tmp_path, (START, HOLD_UP + START), setting, how)
    assert result["window"]["perf_enable_ns"] >= HELD_UP_MS * 1e6


def test_no_message_is_counted_before_the_window_is_read(
    plain_build: Build, tmp_path: Path
) -> None:
    counted = ["--counted-messages", "10"]
    setting = Setting(duration_s=HELD_UP_MS / 1e3 + 1, sender_options=counted)
    result = result_of(plain_build, tmp_path, (START, HOLD_UP + START), setting)
    assert result["in_window"]["messages"] == 10


def test_no_round_trip_is_sampled_after_the_window_is_read(
    plain_build: Build, tmp_path: Path
) -> None:
    asks = ("--mode", "request_response")
    setting = Setting(msg_bytes=100, sender_options=asks, receiver_options=asks)
    result = result_of(plain_build, tmp_path, (END, END + HOLD_UP), setting)
    # one may have been under way when the window began
    assert result["round_trip"]["samples"] <= result["in_window"]["messages"] + 1


def test_a_side_whose_end_is_late_still_sees_traffic(address_build: Build) -> None:
    setting = Setting(duration_s=1)
    with ready_pair(*address_build.pair("two_copy"), setting) as (sender, receiver):
        line = window_line(setting)
        start_ns, end_ns = (int(word) for word in line.split()[1:])
        receiver.say(f"window {start_ns} {end_ns + 60_000_000}")
        sender.say(line)
        outcomes = sender.finish(), receiver.finish()
    assert [one.code for one in outcomes] == [0, 0], outcomes[1].stderr
