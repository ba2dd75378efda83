"""A running side: which process is the program that is measured."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator

import pytest

from copycost.drivers.programs.side import Side
from copycost.errors import HostError


@pytest.fixture
def above() -> Iterator[subprocess.Popen[bytes]]:
    """A process that stands for perf: it starts another one, says its number, and waits for it."""
    script = "sleep 60 & echo $!; wait"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, process_group=0) as process:
        yield process
        os.killpg(process.pid, signal.SIGKILL)


def side_of(process: subprocess.Popen[bytes], *, under_perf: bool) -> Side:
    ours, theirs = socket.socketpair()
    theirs.close()
    ours.close()
    return Side("sender", "sleep", process, ours, -1, -1, -1, -1, under_perf=under_perf)


def test_the_program_is_perf_s_child_where_perf_is_above_it(
    above: subprocess.Popen[bytes],
) -> None:
    assert above.stdout is not None
    child = int(above.stdout.readline())
    assert side_of(above, under_perf=True).program_pid == child
    assert side_of(above, under_perf=False).program_pid == above.pid


def test_a_program_that_is_gone_is_named() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    with pytest.raises(HostError, match="the sender has no process below perf any more"):
        _ = side_of(process, under_perf=True).program_pid
