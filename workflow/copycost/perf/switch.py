"""Switching perf on and off through its control pipe, and waiting until it has done so."""

import time

from copycost.hosts.host import Program
from copycost.perf.command import ACK, CONTROL

_POLL_S = 0.02


def tell_perf(perf: Program, word: str, timeout_s: float) -> bool:
    """Tell a perf of ours ``enable`` or ``disable``; return whether it acknowledged in time."""
    perf.write_pipe(CONTROL, f"{word}\n".encode())
    deadline_s = time.monotonic() + timeout_s
    while time.monotonic() < deadline_s:
        said = perf.read_pipe(ACK, _POLL_S)
        if said is not None:
            return b"ack" in said
        if perf.poll() is not None:
            return False
    return False
