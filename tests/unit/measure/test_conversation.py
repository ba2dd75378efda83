"""Watching both sides through the phases of a repetition."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from copycost.drivers.programs.conversation import Conversation, SideEnded
from copycost.drivers.programs.side import Side


@pytest.fixture
def of_an_ended_sender() -> Iterator[Conversation]:
    """A conversation with a sender that has ended by itself."""
    with subprocess.Popen(["true"]) as process:
        pidfd = os.pidfd_open(process.pid)
        process.wait()
    ours, theirs = socket.socketpair()
    conversation = Conversation(io_timeout_s=1.0, parent_fds=())
    conversation.sides.append(
        Side("sender", "true", process, ours, pidfd, -1, -1, -1, under_perf=False)
    )
    yield conversation
    os.close(pidfd)
    ours.close()
    theirs.close()


def test_a_side_that_ends_before_its_time_is_named(of_an_ended_sender: Conversation) -> None:
    with pytest.raises(SideEnded, match="the sender ended during the handshake"):
        of_an_ended_sender.watch_until(time.monotonic_ns() + 10**10, "drain")


def test_a_side_that_has_ended_by_the_time_of_a_late_look_may_have_ended_in_time(
    of_an_ended_sender: Conversation,
) -> None:
    of_an_ended_sender.watch_until(time.monotonic_ns() - 10**6, "drain")
    assert of_an_ended_sender.phase == "drain"
    of_an_ended_sender.await_end()


def test_the_sender_hears_of_the_window_last(
    of_an_ended_sender: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    (sender,) = of_an_ended_sender.sides
    of_an_ended_sender.sides.append(replace(sender, name="receiver"))
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(Side, "say", lambda side, line: told.append((side.name, line)))
    start_ns, end_ns = of_an_ended_sender.open_window(0.1, 0.2)
    line = f"window {start_ns} {end_ns}"
    assert told == [("receiver", line), ("sender", line)]
