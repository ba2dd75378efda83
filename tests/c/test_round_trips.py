"""Request and response: what comes back, what is timed from when, and how many samples carry."""

import signal
import socket
import time
from typing import Any

import pytest
from c.conftest import Build
from c.harness import Setting, assert_failed, begin_window, ready_pair, receiving, results, sending

MODE = ("--mode", "request_response", "--nodelay", "on")


def asking(*, interval_ns: int = 0, **options: object) -> Setting:
    """Return a setting in which each message is answered."""
    interval = ["--interval-ns", str(interval_ns)] if interval_ns else []
    how = {"msg_bytes": 64, **options}
    return Setting(sender_options=[*MODE, *interval], receiver_options=MODE, **how)


def measured(build: Build, setting: Setting, strategy: str = "two_copy") -> dict[str, Any]:
    """Return a sender's result."""
    return results(*build.pair(strategy), setting)[0]


@pytest.mark.parametrize("msg_bytes", [1, 4096, 65537, 1 << 20])
def test_every_answer_is_what_was_asked(
    address_build: Build, strategy: str, msg_bytes: int
) -> None:
    setting = asking(msg_bytes=msg_bytes, n_threads=2, verify=True)
    sent = measured(address_build, setting, strategy)
    assert sent["total"]["messages"] >= sent["round_trip"]["samples"] > 0
    assert sent["options"]["mode"] == "request_response"


def test_an_answer_takes_two_calls_of_the_receiver(plain_build: Build) -> None:
    setting = asking()
    sent, received = results(*plain_build.pair("two_copy"), setting)
    messages = sent["total"]["messages"]
    # A message and its answer are received and sent in one call each; one more sees the end.
    assert received["total"]["recv_calls"] == 2 * messages + 1
    calls = sent["total"]
    assert (calls["send_calls"], calls["other_calls"]) == (messages, messages + 1)


def test_percentiles_rise_and_need_ten_samples_above(plain_build: Build) -> None:
    times = measured(plain_build, asking(duration_s=0.2))["round_trip"]
    curve = times["percentiles"]
    shares = [share for share, _ in curve]
    assert shares[0] == 0
    assert shares == sorted(shares)
    values = [ns for _, ns in curve]
    assert values == sorted(values)
    assert 0 < values[0] <= times["p50_ns"] <= times["p90_ns"] <= times["p99_ns"]
    assert values[-1] <= times["max_ns"]
    assert values[0] <= times["mean_ns"] <= times["max_ns"]
    assert (1 - shares[-1]) * times["samples"] >= 9.5
    assert (times["p999_ns"] is None) == (times["samples"] < 9500)


def test_few_samples_carry_no_percentiles(plain_build: Build) -> None:
    times = measured(plain_build, asking(interval_ns=10_000_000))["round_trip"]
    assert 5 < times["samples"] < 20
    assert times["p50_ns"] is times["p90_ns"] is times["p99_ns"] is times["p999_ns"] is None
    assert times["max_ns"] > 0


def test_requests_are_made_when_they_are_due(plain_build: Build) -> None:
    sent = measured(plain_build, asking(interval_ns=1_000_000, duration_s=0.3))
    assert sent["options"]["interval_ns"] == 1_000_000
    # The window is that long, whatever a busy machine makes of the round trips.
    assert sent["round_trip"]["samples"] == pytest.approx(300, abs=60)


@pytest.mark.parametrize("interval_ns", [0, 1_000_000])
def test_a_standstill_counts_for_every_request_that_was_due(
    plain_build: Build, interval_ns: int
) -> None:
    """Coordinated omission: a client that waits does not ask, and sees one slow answer only."""
    setting = asking(interval_ns=interval_ns, warmup_s=0.02, duration_s=0.4)
    with ready_pair(*plain_build.pair("one_copy"), setting) as (sender, receiver):
        begin_window(setting, sender, receiver)
        time.sleep(0.1)
        receiver.process.send_signal(signal.SIGSTOP)
        time.sleep(0.15)  # the standstill itself
        receiver.process.send_signal(signal.SIGCONT)
        outcomes = sender.finish(), receiver.finish()
    assert [outcome.code for outcome in outcomes] == [0, 0], outcomes[0].stderr
    times = outcomes[0].result["round_trip"]
    assert times["max_ns"] > 100_000_000
    slow = times["p90_ns"] > 20_000_000
    assert slow == (interval_ns > 0)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"", "timed out"),
        (b"x" * 63, "timed out"),
        (b"x" * 64, "64 bytes of an answer differ from the pattern, the first at offset 0"),
        (None, "the receiver closed it"),
    ],
)
def test_wrong_answers_fail_the_sender(
    address_build: Build, answer: bytes | None, words: str
) -> None:
    setting = asking(duration_s=30, io_timeout_ms=300, verify=True)
    with sending(address_build.sender("two_copy"), setting) as (sender, peer):
        assert len(peer.recv(64, socket.MSG_WAITALL)) == 64
        if answer is None:
            peer.close()
        else:
            peer.sendall(answer)
        assert_failed(sender.finish(), words)


def test_a_request_cut_short_fails_the_receiver(address_build: Build) -> None:
    with receiving(address_build.receiver, asking(duration_s=30)) as (receiver, peer):
        peer.sendall(b"x" * 64)
        assert peer.recv(64, socket.MSG_WAITALL) == b"x" * 64
        peer.sendall(b"x" * 63)
        peer.close()
        assert_failed(receiver.finish(), "in the middle of a message")
