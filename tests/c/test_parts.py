"""The parts of the programs that can be tested by themselves, in C."""

from collections.abc import Callable

RunCTest = Callable[[str, list[str]], str]


def test_histogram_is_at_most_one_percent_off(run_c_test: RunCTest) -> None:
    assert "worst relative error" in run_c_test("stats_check", ["stats.c"])


def test_short_writes_continue_at_the_right_byte(run_c_test: RunCTest) -> None:
    run_c_test("message_check", ["memory.c", "message.c"])


def test_rings_are_walked_in_order_and_hot_slots_come_back_first(run_c_test: RunCTest) -> None:
    run_c_test("ring_check", ["memory.c", "message.c", "ring.c"])


def test_completion_ranges_survive_the_wrap_and_wrong_ones_are_refused(
    run_c_test: RunCTest,
) -> None:
    run_c_test("zero_copy_check", ["clock.c", "die.c", "memory.c", "message.c", "ring.c"])
