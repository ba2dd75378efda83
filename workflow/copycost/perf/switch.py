"""Switching perf on and off through its control pipe, and waiting until it has done so."""

from collections.abc import Sequence

from copycost.hosts.edges import AtEdges
from copycost.hosts.host import Program
from copycost.perf.command import ACK, CONTROL

_ON, _OFF = b"enable\n", b"disable\n"


def switched_off(perf: Program, timeout_s: float) -> bool:
    """Switch a perf of ours off; return whether it acknowledged in time."""
    return _acknowledged(perf.ask(CONTROL, ACK, _OFF, timeout_s))


def on_within_window(perf: Program, timeout_s: float) -> AtEdges[bytes | None]:
    """Return what switches a perf of ours on at the first edge and off at the second."""
    return perf.ask_at_edges(CONTROL, ACK, (_ON, _OFF), timeout_s)


def was_switched(answers: Sequence[bytes | None]) -> bool:
    """Whether it acknowledged both in time."""
    return len(answers) == 2 and all(map(_acknowledged, answers))


def _acknowledged(answer: bytes | None) -> bool:
    return answer is not None and b"ack" in answer
