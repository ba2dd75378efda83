"""Every byte arrives, whatever the strategy, size and number of threads."""

import itertools
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from c.conftest import Build
from c.harness import (
    Outcome,
    Setting,
    listening_port,
    run_pair,
    start_receiver,
    start_sender,
    window_line,
)

# Fewer bytes than fields, one field larger than the others, pages, more than one packet, and more
# than a pipe or a send buffer holds; message_check.c goes through all small ones.
SIZES = (1, 9, 4096, 65537, 4 << 20)
SIZES_AND_THREADS = list(zip(SIZES, itertools.cycle((4, 1)), strict=False))


def assert_every_byte_arrived(sender: Outcome, receiver: Outcome, setting: Setting) -> None:
    assert (sender.code, receiver.code) == (0, 0), sender.stderr + receiver.stderr
    sent, received = sender.result, receiver.result
    assert sent["total"]["bytes"] == sent["total"]["messages"] * setting.msg_bytes
    assert received["total"]["bytes"] == sent["total"]["bytes"] > 0
    if setting.verify:
        assert received["verify"]["checked_bytes"] == received["total"]["bytes"]
        assert received["verify"]["wrong_bytes"] == 0
    assert len(sent["threads"]) == len(received["threads"]) == setting.n_threads
    if sent["strategy"] == "zero_copy":
        assert sent["zero_copy"]["sent"] == sent["zero_copy"]["completed"] > 0
        assert sent["zero_copy"]["copied"] <= sent["zero_copy"]["completed"]
        assert sent["zero_copy"]["notifications"] <= sent["zero_copy"]["completed"]
        assert sent["effective"]["zero_copy"] is True
    else:
        assert sent["zero_copy"] is None


@pytest.mark.parametrize(("msg_bytes", "n_threads"), SIZES_AND_THREADS)
def test_every_byte_arrives(
    address_build: Build, strategy: str, msg_bytes: int, n_threads: int
) -> None:
    setting = Setting(
        msg_bytes=msg_bytes, n_threads=n_threads, warmup_s=0.005, duration_s=0.03, verify=True
    )
    sender, receiver = run_pair(address_build.sender(strategy), address_build.receiver, setting)
    assert_every_byte_arrived(sender, receiver, setting)


@pytest.mark.parametrize(("msg_bytes", "verify"), [(1000, False), (65537, True)])
def test_threads_do_not_race(
    thread_build: Build, strategy: str, msg_bytes: int, verify: bool
) -> None:
    setting = Setting(msg_bytes=msg_bytes, n_threads=4, duration_s=0.05, verify=verify)
    sender, receiver = run_pair(thread_build.sender(strategy), thread_build.receiver, setting)
    assert_every_byte_arrived(sender, receiver, setting)


def test_null_sends_nothing_and_counts_messages(address_build: Build) -> None:
    setting = Setting(n_threads=2)
    sender, receiver = run_pair(address_build.sender("null"), address_build.receiver, setting)
    assert (sender.code, receiver.code) == (0, 0), sender.stderr + receiver.stderr
    assert sender.result["in_window"]["messages"] > 0
    assert sender.result["total"]["bytes"] == receiver.result["total"]["bytes"] == 0
    assert sender.result["in_window"]["send_calls"] == 0


def test_works_over_ipv6(address_build: Build) -> None:
    if not Path("/proc/net/if_inet6").exists():
        pytest.skip("no IPv6 in this kernel")
    setting = Setting(address="::1", verify=True)
    sender, receiver = run_pair(address_build.sender("one_copy"), address_build.receiver, setting)
    assert_every_byte_arrived(sender, receiver, setting)


def run_stopped_and_continued(
    sender_program: Path, receiver_program: Path, options: Sequence[str] = ()
) -> tuple[Setting, Outcome, Outcome]:
    """Run a pair that is stopped by signals, which cut blocked sends short, and continued."""
    setting = Setting(
        msg_bytes=4 << 20,
        duration_s=0.6,
        verify=True,
        sender_options=["--sndbuf-bytes", "65536", *options],
        receiver_options=["--rcvbuf-bytes", "65536"],
    )
    with start_sender(sender_program, setting) as sender:
        port = listening_port(sender)
        with start_receiver(receiver_program, setting, port) as receiver:
            assert sender.read_line() == receiver.read_line() == "ready"
            line = window_line(setting)
            sender.say(line)
            receiver.say(line)
            stop_at = time.monotonic() + setting.duration_s / 2
            while time.monotonic() < stop_at:
                for process in (receiver.process, sender.process):
                    process.send_signal(signal.SIGSTOP)
                    time.sleep(0.01)  # time to fill the buffers, then to be stopped
                for process in (sender.process, receiver.process):
                    process.send_signal(signal.SIGCONT)
                time.sleep(0.01)
            return setting, sender.finish(), receiver.finish()


def test_short_writes_lose_no_byte(address_build: Build, strategy: str) -> None:
    """The rest of a message must follow from the right byte."""
    program = address_build.sender(strategy)
    setting, *outcomes = run_stopped_and_continued(program, address_build.receiver)
    assert_every_byte_arrived(*outcomes, setting)
    assert outcomes[0].result["total"]["short_writes"] > 0
