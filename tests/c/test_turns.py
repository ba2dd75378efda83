"""Two programs that send in turns with others: what they tell is of whole turns."""

import socket
from contextlib import suppress

import pytest
from c.conftest import Build
from c.harness import Program, Setting, assert_failed, over_udp, ready_pair

TURN_NS = 10_000_000
ANSWERED = ("--mode", "request_response", "--nodelay", "on")
SETTINGS = {
    "stream": Setting(n_threads=2, msg_bytes=40_000, sender_options=("--sample-every", "1")),
    "datagram": over_udp(Setting(n_threads=2, msg_bytes=1000)),
    "answered": Setting(
        n_threads=2, msg_bytes=5000, sender_options=ANSWERED, receiver_options=ANSWERED
    ),
}
EDGES = {"begin": "begun", "half": "halved", "end": "measured"}


def told(program: Program, said: str, answer: str) -> list[int]:
    program.say(said)
    line = program.read_line()
    assert line, program.finish().stderr
    word, *numbers = line.split()
    assert word == answer, line
    return [int(number) for number in numbers]


def edge(programs: tuple[Program, Program], word: str) -> None:
    for program in programs:
        program.say(word)
        assert program.read_line() == EDGES[word]


@pytest.mark.parametrize(
    ("strategy", "kind"),
    [
        *((name, "stream") for name in ("two_copy", "zero_copy", "sendmmsg", "sendfile", "splice")),
        ("udp_gso", "datagram"),
        *((name, "answered") for name in ("two_copy", "zero_copy", "uring_send")),
    ],
)
def test_turns_are_whole_and_what_lies_between_them_counts_nothing(
    thread_build: Build, strategy: str, kind: str
) -> None:
    setting = SETTINGS[kind]
    with ready_pair(*thread_build.pair(strategy), setting) as (sender, receiver):
        told(receiver, "receive 0", "received")
        sent = [told(sender, f"send {TURN_NS}", "sent")]
        received = [told(receiver, f"receive {sent[0][2]}", "received")]
        cpu_ns = told(sender, "drain", "drained")
        edge((receiver, sender), "begin")
        for turn in range(4):
            if turn == 2:
                edge((receiver, sender), "half")
            sent.append(told(sender, f"send {TURN_NS}", "sent"))
            received.append(told(receiver, f"receive {sent[-1][2]}", "received"))
            cpu_ns += told(sender, "drain", "drained")
        edge((receiver, sender), "end")
        sender.say("stop")
        with suppress(BrokenPipeError):  # a goodbye that came before has ended it
            receiver.say("stop")
        outcomes = [one.finish() for one in (sender, receiver)]
    assert [one.code for one in outcomes] == [0, 0], [one.stderr for one in outcomes]
    results = [one.result for one in outcomes]
    uncounted = 4 * results[1]["options"]["receive_lowat_bytes"]
    for (start_ns, stop_ns, n_bytes), (*_, n_received, _) in zip(sent, received, strict=True):
        assert start_ns + TURN_NS <= stop_ns
        assert n_received <= n_bytes
        assert n_received >= n_bytes - uncounted or kind == "datagram"
    assert cpu_ns == sorted(cpu_ns)
    assert results[0]["in_window"]["bytes"] == sent[-1][2] - sent[0][2] > 0
    n_bytes = received[-1][2] - received[0][2]
    assert abs(results[1]["in_window"]["bytes"] - n_bytes) <= uncounted
    assert results[0]["in_window"]["first_half_bytes"] == sent[2][2] - sent[0][2]
    if kind == "stream":  # also those that outlast the turn in which they began
        assert results[0]["service_time"]["samples"] == results[0]["in_window"]["messages"]
    if kind == "answered":
        times, turns = results[0]["round_trip"], sent[1:]
        assert times["samples"] == results[0]["in_window"]["messages"] > 0
        assert n_bytes == times["samples"] * setting.msg_bytes
        # each thread is asked for one after the other, and for none outside of its turns
        most_ns = setting.n_threads * sum(stop_ns - start_ns for start_ns, stop_ns, _ in turns)
        assert times["samples"] * times["mean_ns"] <= most_ns


def test_a_receiver_in_its_turn_notices_that_the_orchestrator_is_gone(address_build: Build) -> None:
    setting = Setting(io_timeout_ms=60_000)
    with ready_pair(*address_build.pair("two_copy"), setting) as (_, receiver):
        told(receiver, "receive 0", "received")
        receiver.say(f"receive {1 << 40}")
        receiver.control.shutdown(socket.SHUT_WR)
        assert_failed(receiver.finish(), "orchestrator is gone")


def test_a_sender_whose_peer_is_gone_says_so_in_its_turn(thread_build: Build) -> None:
    setting = Setting(io_timeout_ms=500)
    with ready_pair(*thread_build.pair("two_copy"), setting) as (sender, receiver):
        told(receiver, "receive 0", "received")
        told(sender, f"send {TURN_NS}", "sent")
        receiver.process.kill()
        receiver.finish()
        sender.say(f"send {TURN_NS}")
        outcome = sender.finish()
    assert outcome.code == 1
    assert "sender:" in outcome.stderr
