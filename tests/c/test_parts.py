"""The parts of the programs that can be tested by themselves, in C."""

from collections.abc import Callable, Sequence

from c.conftest import Build
from c.test_ways import sender_of

RunCTest = Callable[[str, Sequence[str]], str]


def test_quantiles_are_as_exact_as_promised(run_c_test: RunCTest) -> None:
    assert "worst relative error" in run_c_test("stats_check", ["stats.c"])


def test_short_writes_continue_at_the_right_byte(run_c_test: RunCTest) -> None:
    run_c_test("message_check", ["memory.c", "messages/message.c"])


def test_rings_are_walked_in_order_and_hot_slots_come_back_first(run_c_test: RunCTest) -> None:
    run_c_test("ring_check", ["memory.c", "messages/message.c", "messages/ring.c"])


def test_completion_ranges_survive_the_wrap_and_wrong_ones_are_refused(
    run_c_test: RunCTest,
) -> None:
    needed = [
        *("clock", "failure", "memory", "send_message"),
        *("connections/socket_option", "messages/message", "messages/ring"),
        *("zero_copy/error_queue", "zero_copy/limits"),
    ]
    run_c_test("zero_copy_check", [f"{name}.c" for name in needed])


def test_notifications_of_refused_sends_free_no_slot(run_c_test: RunCTest) -> None:
    run_c_test("uring_sends_check", ["uring/sends.c"])


def test_a_wait_goes_on_as_long_as_completions_come(
    address_build: Build, run_c_test: RunCTest
) -> None:
    sender_of(address_build, "uring_send")  # skips where there is none
    run_c_test("uring_wait_check", ["clock.c", "failure.c", "uring/uring.c"])
