"""UDP: what arrives is right, what is lost is counted, and both sides find each other and part."""

import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from c.conftest import Build
from c.harness import (
    LIMIT_S,
    TOKEN,
    Outcome,
    Setting,
    agreed,
    assert_failed,
    begin_window,
    listening_port,
    over_udp,
    results,
    sinking,
    start_receiver,
    start_sender,
    window_line,
)


def datagrams(**options: object) -> Setting:
    """Return a setting over UDP."""
    return over_udp(Setting(**{"msg_bytes": 1000, **options}))


@pytest.mark.parametrize("msg_bytes", [1000, 60_000])
def test_no_more_is_sent_than_a_rate_allows(plain_build: Build, msg_bytes: int) -> None:
    rate = 4_000_000
    how = datagrams(
        msg_bytes=msg_bytes, n_threads=2, duration_s=0.2, sender_options=("--rate", str(rate))
    )
    sent, _ = results(*plain_build.pair("two_copy"), how)
    window, within = sent["window"], sent["in_window"]
    seconds = (window["end_ns"] - window["start_ns"]) / 1e9
    most = rate * seconds + 2 * 2 * msg_bytes + rate * 0.02  # a burst after a pause, each thread
    assert 0 < within["bytes"] <= most
    assert sent["options"]["rate_bytes_per_s"] == rate
    if msg_bytes == 1000:  # of a dozen large ones none may be in the sample
        assert sent["service_time"]["samples"] > 0


def test_a_standstill_is_not_made_up_for(plain_build: Build, ours: socket.socket) -> None:
    rate = 10_000_000
    pace = ("--rate", str(rate), "--sample-every", "0")
    setting = sink(ours, msg_bytes=1000, warmup_s=0, duration_s=0.5)
    setting = replace(setting, sender_options=(*setting.sender_options, *pace))
    with sinking(plain_build.sender("two_copy"), setting) as sender:
        time.sleep(0.1)  # it sends
        sender.process.send_signal(signal.SIGSTOP)
        time.sleep(0.3)
        sender.process.send_signal(signal.SIGCONT)
        total = sender.finish().result["total"]
    assert 0 < total["bytes"] < rate * 0.6  # of 0.75 s, the cool-down included


@pytest.fixture
def ours() -> Iterator[socket.socket]:
    """Return a socket of the test's own: what it does not read vanishes as its queue overflows."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours:
        ours.bind(("127.0.0.1", 0))
        ours.settimeout(LIMIT_S)
        yield ours


def sink(deaf: socket.socket, **options: object) -> Setting:
    """Return a setting to send where nobody receives."""
    port = str(deaf.getsockname()[1])
    return datagrams(
        address=None, sender_options=["--sink", "--connect", "127.0.0.1", "--port", port], **options
    )


def test_a_sink_needs_no_receiver(address_build: Build, strategy: str, ours: socket.socket) -> None:
    setting = sink(ours, n_threads=3, msg_bytes=20000)
    with sinking(address_build.sender(strategy), setting) as sender:
        outcome = sender.finish()
    assert outcome.code == 0, outcome.stderr
    total = outcome.result["total"]
    assert total["datagrams"] == total["messages"] > 0
    assert len(outcome.result["threads"]) == 3


def test_a_sink_that_refuses_fails_the_sender(address_build: Build, ours: socket.socket) -> None:
    setting = sink(ours, duration_s=30)
    ours.close()
    with sinking(address_build.sender("one_copy"), setting) as sender:
        assert_failed(sender.finish(), "one_copy: sendmsg", "refused")


def note(which: int, index: int = 0, token: str = TOKEN) -> bytes:
    """Return a datagram that is no message: 0 hello, 1 welcome, 2 goodbye."""
    return b"COPYNOTE" + which.to_bytes(4) + index.to_bytes(4) + token.encode()


def test_strangers_do_not_matter(address_build: Build, ours: socket.socket) -> None:
    setting = datagrams()
    with start_sender(address_build.sender("two_copy"), setting) as sender:
        port = listening_port(sender)
        for said in (b"", b"x" * 5000, note(0, token="f" * 16), note(0, index=1), note(2)):
            ours.sendto(said, ("127.0.0.1", port))
        with start_receiver(address_build.receiver, setting, port) as receiver:
            assert sender.read_line() == receiver.read_line() == "ready"
            begin_window(setting, sender, receiver)
            outcomes = sender.finish(), receiver.finish()
    agreed(*outcomes, setting)
    assert "unknown peers: dropped 5 from 127.0.0.1, the last one because" in outcomes[0].stderr


def test_a_receiver_that_never_says_goodbye_ends_in_a_timeout(
    address_build: Build, ours: socket.socket
) -> None:
    setting = datagrams(io_timeout_ms=300)
    with start_sender(address_build.sender("two_copy"), setting) as sender:
        ours.sendto(note(0), ("127.0.0.1", listening_port(sender)))
        assert ours.recv(100) == note(1)
        assert sender.read_line() == "ready"
        sender.say(window_line(setting))
        assert_failed(sender.finish(), "no answer to the goodbye", "timed out")


def message(number: int, n_bytes: int = 1000) -> bytes:
    """Return the message of the first connection with this number, as src/messages/pattern.h."""
    words = []
    for index in range(number * n_bytes // 8, (number + 1) * n_bytes // 8):
        word = (index + 0x9E3779B97F4A7C15) % 2**64
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
        words.append((word ^ word >> 31).to_bytes(8, "little"))
    return number.to_bytes(8, "little") + b"".join(words[1:])


def hear(build: Build, ours: socket.socket, said: list[bytes]) -> Outcome:
    """Say these datagrams to a receiver; return how it ends."""
    setting = datagrams(msg_bytes=1000, verify=True)
    port = ours.getsockname()[1]
    with start_receiver(build.receiver, setting, port) as receiver:
        hello, peer = ours.recvfrom(100)
        assert hello == note(0)
        ours.connect(peer)
        ours.send(note(1))
        ours.send(note(1))  # as if the hello had been said twice
        assert receiver.read_line() == "ready"
        receiver.say(window_line(setting))
        for datagram in said:
            ours.send(datagram)
        time.sleep(setting.warmup_s + setting.duration_s)
        ours.send(note(2))
        return receiver.finish()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ([b"x" * 999], "a datagram of 999 bytes, expected 1000"),
        ([b"\0" * 1000], "of 1000 bytes differ from the pattern, the first at offset 8"),
        ([message(1), message(1)], "1000 of 2000 bytes differ from the pattern"),
        ([message(3), message(1), message(1)], "1000 of 3000 bytes differ from the pattern"),
        ([message(2000), message(900)], "1000 of 2000 bytes differ from the pattern"),
    ],
)
def test_wrong_datagrams_fail_the_receiver(
    address_build: Build, ours: socket.socket, said: list[bytes], words: str
) -> None:
    assert_failed(hear(address_build, ours, said), words)


def test_datagrams_may_come_out_of_order(address_build: Build, ours: socket.socket) -> None:
    numbers = [0, 2, 1, 5, 3, 2000, 1999, 1001, 977]
    outcome = hear(address_build, ours, [message(number) for number in numbers])
    assert outcome.code == 0, outcome.stderr
    assert outcome.result["verify"]["checked_bytes"] == 1000 * len(numbers)


def test_a_sender_that_never_comes_ends_in_a_timeout(
    address_build: Build, ours: socket.socket
) -> None:
    setting = datagrams(io_timeout_ms=200)
    port = ours.getsockname()[1]
    with start_receiver(address_build.receiver, setting, port) as receiver:
        assert_failed(receiver.finish(), "no welcome", "timed out")
