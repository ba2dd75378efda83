"""Options, their errors, --help, --version, --probe, and where the result goes."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from c.conftest import Build
from c.harness import (
    Setting,
    assert_failed,
    greeted,
    results,
    run,
    run_pair,
    start_sender,
)

from copycost.build.toolchain import Program

GOOD = ("--bind", "127.0.0.1", "--msg-bytes", "1", "--control-fd", "0")
SINK = ("--transport", "datagram", "--sink", "--connect", "127.0.0.1", "--port", "9")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--wrong"], "unknown option --wrong"),
        (["--threads"], "--threads needs a value"),
        ([*GOOD, "--threads", "0"], "--threads: got '0', must be"),
        ([*GOOD, "--threads", "1025"], "1..1024"),
        ([*GOOD, "--msg-bytes", "4k"], "got '4k'"),
        ([*GOOD, "--msg-bytes", "99999999999999999999"], "1..1073741824"),
        ([*GOOD, "--cpus", "0,,1"], "--cpus: got '0,,1'"),
        ([*GOOD, "--nodelay", "maybe"], "kernel, on or off"),
        ([*GOOD, "--perf-fds", "3"], "--perf-fds: got '3'"),
        ([*GOOD, "--port", "65536"], "0..65535"),
        ([*GOOD, "--connect", "127.0.0.1"], "--connect needs --sink"),
        ([*GOOD, "--rcvlowat-bytes", "1"], "unknown option --rcvlowat-bytes"),
        ([*GOOD, "--sink"], "--connect is required"),
        ([*GOOD, "--transport", "carrier pigeon"], "stream (TCP) or datagram (UDP)"),
        ([*GOOD, *SINK], "--bind and --sink are mutually exclusive"),
        ([*GOOD[2:], "--connect", "127.0.0.1", "--port", "9", "--sink"], "--transport datagram"),
        ([*GOOD, "--transport", "datagram", "--msg-bytes", "65508"], "65507 bytes at most"),
        ([*GOOD, "--mode", "request_response", "--batch", "2"], "needs --batch 1"),
        ([*GOOD, "--interval-ns", "1000"], "needs --mode request_response"),
        ([*GOOD, "--rate", "9", "--counted-messages", "1"], "--rate needs --mode stream, without"),
        ([*GOOD, "--warmup-messages", "4"], "--warmup-messages needs --counted-messages"),
        ([*GOOD, "--counted-messages", "3", "--mode", "request_response"], "needs --mode stream"),
        ([*GOOD, "--batch", "0"], "1..256"),
        ([*GOOD, "--batch", "2"], "two_copy sends one message per call"),
        (GOOD[2:], "--bind is required"),
        (GOOD[:2], "--msg-bytes is required"),
    ],
)
def test_bad_usage(address_build: Build, options: Sequence[str], words: str) -> None:
    outcome = run([address_build.sender("two_copy"), *options])
    assert outcome.code == 2
    assert outcome.stdout == ""
    assert outcome.stderr.startswith("sender: ")
    assert words in outcome.stderr


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (Setting(address="localhost"), ["'localhost' is not a numeric address"]),
        (Setting(sender_options=["--congestion", "no,such"]), ["TCP_CONGESTION", "no,such"]),
    ],
)
def test_what_this_host_does_not_know(
    address_build: Build, setting: Setting, words: list[str]
) -> None:
    with start_sender(address_build.sender("null"), setting) as sender:
        assert_failed(sender.finish(), *words)


def test_a_cpu_that_is_not_there(address_build: Build) -> None:
    setting = Setting(sender_options=["--cpus", "1023"])
    with greeted(address_build.sender("null"), setting) as (sender, _):
        assert_failed(sender.finish(), "pthread_create on CPU 1023")


def test_the_first_congestion_control_that_works_is_taken(address_build: Build) -> None:
    options = ["--congestion", "nonesuch,reno"]
    setting = Setting(sender_options=options, receiver_options=options)
    for result in results(address_build.sender("two_copy"), address_build.receiver, setting):
        assert result["effective"]["congestion_control"] == "reno"


@pytest.mark.parametrize(
    ("program", "part", "option"),
    [
        ("sender", "zero_copy", "--io-timeout-ms"),
        ("receiver", "recv", "--io-timeout-ms"),
        ("memory_floor", None, "--max-bytes N"),
        ("simulated_walk", None, "--pattern NAME"),
    ],
)
def test_help_and_version(
    address_build: Build, program: Program, part: str | None, option: str
) -> None:
    made = address_build.program(program, part)
    assert option in run([made, "--help"]).stdout
    said = run([made, "--version"]).stdout
    assert said.startswith(f"{program} {part}, source " if part else f"{program}, source ")
    assert said.count("\n") == 1


def test_no_room_for_the_result(address_build: Build) -> None:
    with Path("/dev/full").open("w") as full:
        sender, _ = run_pair(
            address_build.sender("two_copy"), address_build.receiver, Setting(), stdout=full
        )
    assert sender.code == 1
    assert sender.stderr == "sender: write to stdout: No space left on device\n"
