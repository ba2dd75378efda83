"""Watching both sides through the phases of a repetition."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from setups import HOST

from copycost.hosts.host import Host, Waiting
from copycost.hosts.local import LocalHost
from copycost.hosts.program import Launch, LocalProgram
from copycost.hosts.side import SideName
from copycost.measure.drivers.programs.conversation import Conversation, RunningSide


@pytest.fixture
def of_an_ended_sender() -> Iterator[Conversation]:
    """A conversation with a sender that has ended by itself."""
    program = HOST.start(Launch(("true",), "true", control=True))
    assert program.wait(60) == 0
    conversation = Conversation(1.0, Waiting(()), HOST)
    conversation.sides.append(RunningSide("sender", program))
    yield conversation
    program.close()


def test_a_side_that_has_ended_by_the_time_of_a_late_look_may_have_ended_in_time(
    of_an_ended_sender: Conversation,
) -> None:
    of_an_ended_sender.watch_until(time.monotonic_ns() - 10**6, "drain")
    assert of_an_ended_sender.phase == "drain"
    of_an_ended_sender.let_stop()  # it is not asked to measure
    of_an_ended_sender.await_end()


def test_the_sender_hears_of_the_window_last_and_each_side_in_its_own_clock(
    of_an_ended_sender: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    (sender,) = of_an_ended_sender.sides
    of_an_ended_sender.sides.append(replace(sender, name="receiver"))
    told: list[str] = []
    monkeypatch.setattr(LocalProgram, "say", lambda _, line: told.append(line))
    ahead = LocalHost("a host whose clock is ahead")
    ahead.clock_offset_ns = 10**12
    hosts: Mapping[SideName, Host] = {"sender": HOST, "receiver": ahead}
    window = of_an_ended_sender.open_window(0.1, 0.2, hosts)
    assert window.length_s == pytest.approx(0.2)
    assert told == [
        f"window {window.start_ns + 10**12} {window.end_ns + 10**12}",
        f"window {window.start_ns} {window.end_ns}",
    ]
