"""What is read at an edge of the window belongs together, wherever the main thread is held up."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from c.conftest import Build
from c.harness import Outcome, Setting, run_pair
from c.test_parts import RunCTest
from c.variants import sender_variant

WINDOW_S = 0.1
HELD_UP_MS = 400  # at the window's end
RATE_BYTES_PER_S = 10_000_000


def test_counters_agree_wherever_reader_and_writer_are_held_up(run_c_test: RunCTest) -> None:
    run_c_test("counters_check", [])


def sender_held_up_before(
    line: str, build: Build, folder: Path, options: Sequence[str] = ()
) -> Outcome:
    """Run a sender whose main thread is held up before a line of its third reading, the last."""
    program = sender_variant(
        build,
        "two_copy",
        folder,
        {
            "session/window.c": (
                line,
                "static int n_readings; if (++n_readings == 3) "
                f"{{ clock_sleep_until(clock_now_ns() + {HELD_UP_MS} * NS_PER_MS); }} {line}",
            )
        },
    )
    setting = Setting(duration_s=WINDOW_S, msg_bytes=1000, sender_options=options)
    sender, _ = run_pair(program, build.receiver, setting)
    assert sender.code == 0, sender.stderr
    return sender


def window_s(sender: Outcome) -> float:
    window = sender.result["window"]
    return float(window["end_ns"] - window["start_ns"]) / 1e9


def test_bytes_and_clock_are_of_one_moment(plain_build: Build, tmp_path: Path) -> None:
    rate = ["--rate", str(RATE_BYTES_PER_S)]
    line = "snapshot->sum = (struct counter_values){0};"
    sender = sender_held_up_before(line, plain_build, tmp_path, rate)
    # it makes up for 10 ms at most
    assert sender.result["in_window"]["bytes"] <= RATE_BYTES_PER_S * (window_s(sender) + 0.1)


@pytest.mark.parametrize("line", ["snapshot->cpu_ns = clock", "struct rusage usage;"])
def test_cpu_time_and_clock_are_of_one_moment(
    plain_build: Build, tmp_path: Path, line: str
) -> None:
    sender = sender_held_up_before(line, plain_build, tmp_path)
    process = sender.result["process"]
    assert process["cpu_ns"] / 1e9 <= window_s(sender) + 0.1
    assert (process["user_ns"] + process["system_ns"]) / 1e9 <= window_s(sender) + 0.1


def test_what_perf_counted_outside_the_window_is_told(plain_build: Build, tmp_path: Path) -> None:
    line = "crew_set_phase(crew, PHASE_WINDOW);"
    held_up = f"clock_sleep_until(clock_now_ns() + {HELD_UP_MS} * NS_PER_MS); {line}"
    changes = {"session/window.c": (line, held_up)}
    program = sender_variant(plain_build, "two_copy", tmp_path, changes)
    control_read, control_write = os.pipe()
    ack_read, ack_write = os.pipe()
    os.write(ack_write, b"ack\n" * 2)
    setting = Setting(sender_options=["--perf-fds", f"{control_write},{ack_read}"])
    sender, _ = run_pair(program, plain_build.receiver, setting, pass_fds=(control_write, ack_read))
    for fd in (control_read, control_write, ack_read, ack_write):
        os.close(fd)
    assert sender.code == 0, sender.stderr
    assert sender.result["window"]["perf_enable_ns"] >= HELD_UP_MS * 1e6
