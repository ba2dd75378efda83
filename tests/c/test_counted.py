"""Exactly so many messages in the window, as simulations of the programs want them."""

import subprocess

import pytest
from c.conftest import Build
from c.harness import Setting, assert_failed, run_pair


def counted(warmup: int, messages: int) -> tuple[str, ...]:
    """Return the options."""
    return ("--warmup-messages", str(warmup), "--counted-messages", str(messages))


def test_the_window_holds_exactly_the_counted_messages(address_build: Build, strategy: str) -> None:
    setting = Setting(warmup_s=0.5, duration_s=0.7, sender_options=counted(3, 8))
    sender, receiver = run_pair(address_build.sender(strategy), address_build.receiver, setting)
    assert (sender.code, receiver.code) == (0, 0), sender.stderr + receiver.stderr
    assert sender.result["in_window"]["messages"] == 8
    assert sender.result["in_window"]["bytes"] == 8 * setting.msg_bytes
    assert sender.result["total"]["messages"] == 11
    assert receiver.result["total"]["bytes"] == 11 * setting.msg_bytes


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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--warmup-messages", "4"], "--warmup-messages needs --counted-messages"),
        (["--counted-messages", "3", "--batch", "2"], "multiples of --batch"),
        (["--counted-messages", "3", "--mode", "request_response"], "needs --mode stream"),
    ],
)
def test_what_contradicts_it_is_refused(
    address_build: Build, options: list[str], words: str
) -> None:
    needed = ["--msg-bytes", "64", "--bind", "127.0.0.1", "--control-fd", "3"]
    program = address_build.sender("sendmmsg")
    done = subprocess.run([program, *needed, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert words in done.stderr
