"""What the programs do when the other side, the orchestrator or the user misbehaves."""

import os
import signal
import socket
import time
from dataclasses import replace
from itertools import product

import pytest
from c.conftest import STRATEGIES, Build
from c.harness import (
    SOON_S,
    Setting,
    as_perf,
    assert_failed,
    begin_window,
    connect,
    greeted,
    greeting,
    listening_port,
    ready_pair,
    receiving,
    reset,
    results,
    sending,
    start_receiver,
    start_sender,
    window_line,
)

QUICK = Setting(io_timeout_ms=300)
LONG = Setting(duration_s=30)


def test_strangers_are_dropped_and_the_right_receiver_is_served(address_build: Build) -> None:
    with start_sender(address_build.sender("two_copy"), Setting()) as sender:
        port = listening_port(sender)
        strangers = [
            connect(port, b""),
            connect(port, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            connect(port, greeting(token="f" * 16)),
            connect(port, greeting(index=7)),
            connect(port, greeting(magic=b"COPYCAST")),
        ]
        reset(connect(port, b"CO"))
        with start_receiver(address_build.receiver, Setting(), port) as receiver:
            assert sender.read_line() == receiver.read_line() == "ready"
            begin_window(Setting(), sender, receiver)
            outcomes = sender.finish(), receiver.finish()
    for stranger in strangers:
        stranger.close()
    assert [outcome.code for outcome in outcomes] == [0, 0], outcomes[0].stderr
    assert "unknown peers: dropped 6 from 127.0.0.1, the last one because" in outcomes[0].stderr


def test_a_flood_of_strangers_is_told_by_address(address_build: Build) -> None:
    with start_sender(address_build.sender("two_copy"), QUICK) as sender:
        port = listening_port(sender)
        for n in range(300):
            address = f"127.0.0.{2 + n % 20}"
            with socket.create_connection(("127.0.0.1", port), source_address=(address, 0)) as one:
                one.sendall(b"x" * 100)
        outcome = sender.finish()
    told = [line for line in outcome.stderr.splitlines() if "unknown peers:" in line]
    assert len(told) == 9
    assert told[0].startswith(
        "sender: unknown peers: dropped 15 from 127.0.0.2, the last one because"
    )
    assert (
        told[-1] == "sender: unknown peers: dropped 180 from other addresses, more than are named"
    )
    assert_failed(outcome, "0 of 1 connections have greeted", "timed out")


def test_the_first_free_port_of_a_range_is_taken(address_build: Build) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        first = held.getsockname()[1]
        options = ("--port", str(first), "--last-port", str(first + 20))
        setting = replace(QUICK, sender_options=options)
        with start_sender(address_build.sender("two_copy"), setting) as sender:
            assert first < listening_port(sender) <= first + 20
            sender.finish()
        setting = replace(QUICK, sender_options=("--port", str(first), "--last-port", str(first)))
        with start_sender(address_build.sender("two_copy"), setting) as sender:
            assert_failed(sender.finish(), f"net: bind to 127.0.0.1 port {first}", "in use")


def test_who_is_new_is_not_sent_away_before_who_has_waited_longest(address_build: Build) -> None:
    with start_sender(address_build.sender("two_copy"), Setting()) as sender:
        port = listening_port(sender)
        before = [connect(port, b"") for _ in range(70)]
        peer = connect(port, b"")
        after = [connect(port, b"") for _ in range(9)]
        # 64 strangers and one connection that we want may wait at once: 15 are sent away.
        assert before[14].recv(1) == b""
        peer.sendall(greeting())
        assert sender.read_line() == "ready"
        for one in (*before, peer, *after):
            one.close()


def test_wrong_bytes_fail_the_receiver_with_their_place(address_build: Build) -> None:
    setting = Setting(verify=True)
    with receiving(address_build.receiver, setting) as (receiver, peer):
        peer.sendall(bytes(10))
        time.sleep(setting.warmup_s + setting.duration_s)
        peer.close()
        outcome = receiver.finish()
    assert_failed(outcome, "10 of 10 bytes differ from the pattern, the first at offset 0")


def test_nobody_listens(address_build: Build) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with start_receiver(address_build.receiver, Setting(), port) as receiver:
        assert_failed(receiver.finish(), "connect to 127.0.0.1", "refused")


@pytest.mark.parametrize(
    ("strategy", "moment"),
    [
        *(("two_copy", moment) for moment in ("listening", "ready")),
        *product(STRATEGIES, ("traffic", "stopped peer")),
    ],
)
def test_programs_end_when_the_orchestrator_is_gone(
    address_build: Build, strategy: str, moment: str
) -> None:
    programs = address_build.sender(strategy), address_build.receiver
    with start_sender(programs[0], LONG) as sender:
        port = listening_port(sender)
        if moment == "listening":
            sender.control.close()
            assert_failed(sender.finish(), "orchestrator is gone")
            return
        with start_receiver(programs[1], LONG, port) as receiver:
            assert sender.read_line() == receiver.read_line() == "ready"
            if moment != "ready":
                begin_window(LONG, sender, receiver)
                time.sleep(0.05)  # not a wait for something: the moment in question
            if moment == "stopped peer":
                receiver.process.send_signal(signal.SIGSTOP)
                time.sleep(0.05)
            began = time.monotonic()
            sender.control.close()
            receiver.control.close()
            outcome = sender.finish()
            if moment == "stopped peer":  # a stray SIGCONT could stall LeakSanitizer at the exit
                receiver.process.send_signal(signal.SIGCONT)
            assert_failed(outcome, "orchestrator is gone")
            assert receiver.finish().code == 1
            assert time.monotonic() - began < SOON_S


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("window tomorrow", "got 'window tomorrow', expected 'window START_NS"),
        ("{window}\ngo on", "got 'go on', expected 'stop'"),
    ],
)
def test_nonsense_from_the_orchestrator(address_build: Build, lines: str, words: str) -> None:
    with greeted(address_build.sender("null"), Setting()) as (sender, _):
        assert sender.read_line() == "ready"
        sender.say(lines.format(window=window_line(Setting())))
        assert_failed(sender.finish(), words)


@pytest.mark.parametrize("line", ["token 12\n", f"token {'g' * 16}\n", ""])
def test_no_token_from_the_orchestrator(address_build: Build, line: str) -> None:
    with start_sender(address_build.sender("null"), QUICK, first_line=line) as sender:
        said = f"got '{line.strip()}', expected 'token HEX16'"
        silence = "waiting for the token line: Connection timed out"
        assert_failed(sender.finish(), said if line else silence)


def test_both_sides_say_when_they_have_measured_and_stop_when_told(address_build: Build) -> None:
    programs = address_build.sender("two_copy"), address_build.receiver
    with ready_pair(*programs, Setting()) as both:
        begin_window(Setting(), *both)
        for one in both:
            assert one.read_line() == "measured"
        for one in both:
            one.say("stop")
        outcomes = [one.finish() for one in both]
    assert [one.code for one in outcomes] == [0, 0]
    assert outcomes[0].result["total"]["bytes"] == outcomes[1].result["total"]["bytes"]


@pytest.mark.parametrize("answer", [b"ack\n", b"ack\n\0"])
def test_perf_is_switched_on_and_off_with_acknowledgement(
    address_build: Build, answer: bytes
) -> None:
    programs = address_build.sender("two_copy"), address_build.receiver
    with as_perf(answer * 2) as (options, fds, commands):
        sent, received = results(*programs, Setting(sender_options=options), pass_fds=fds)
        assert os.read(commands, 100) == b"enable\ndisable\n"
    assert sent["window"]["perf_enable_ns"] > 0
    assert sent["window"]["perf_disable_ns"] > 0
    assert received["window"]["perf_enable_ns"] is None


@pytest.mark.parametrize(("answer", "words"), [(b"", "timed out"), (b"no\n", "answered 'no'")])
def test_perf_that_does_not_acknowledge(address_build: Build, answer: bytes, words: str) -> None:
    with as_perf(answer) as (options, fds, _):
        setting = replace(QUICK, sender_options=options)
        with sending(address_build.sender("null"), setting, pass_fds=fds) as (sender, _):
            assert_failed(sender.finish(), "perf: ", words)
