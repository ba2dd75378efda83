"""Hosts of each kind, and programs on this one, for the time of a test."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from copycost.hosts.host import Program
from copycost.hosts.local import LocalHost
from copycost.hosts.program import Launch
from copycost.hosts.remote.bundle import agent_bundle
from copycost.hosts.remote.host import RemoteHost

HOST = LocalHost()

# starting an agent takes a second of CPU time, of which a busy host has little
PATIENCE_S = 60.0


@contextmanager
def agent_process(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start an agent as it is sent to other machines; yield it and our end of its stream.

    A login shell says something before it.
    """
    bundle = folder / "agent.pyz"
    bundle.write_bytes(agent_bundle())
    ours, theirs = socket.socketpair()
    shell = ["/bin/sh", "-c", 'echo "Welcome to {this} machine"; exec "$@"', "sh"]
    command = [sys.executable, "-I", str(bundle), "--programs", str(folder / "programs")]
    with theirs:
        ends = {"stdin": theirs, "stdout": theirs, "stderr": subprocess.PIPE}
        agent = subprocess.Popen([*shell, *command], **ends)
    try:
        yield agent, ours.detach()
    finally:
        agent.kill()
        agent.communicate()


@contextmanager
def remote_host(folder: Path) -> Iterator[RemoteHost]:
    """Yield a host that is served by an agent process."""
    with (
        agent_process(folder) as (_, stream),
        RemoteHost(stream, "the other machine", PATIENCE_S) as host,
    ):
        yield host


@contextmanager
def running(*words: str, **launch: Any) -> Iterator[Program]:  # noqa: ANN401 - as of Launch
    """Start a program on this machine, and end it after the block."""
    program = HOST.start(Launch(words, words[0], **launch))
    try:
        yield program
    finally:
        program.end()
        program.close()
