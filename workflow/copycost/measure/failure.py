"""Say in one sentence why a repetition failed, and what to do about it."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from copycost.errors import CopycostError
from copycost.measure.conversation import SideEnded, SideSilent
from copycost.measure.side import EXIT_UNAVAILABLE, Side
from copycost.testbed.namespaces import TestbedUnavailable

_AGAIN = "delete the record and run again to repeat it"
# what a program's last words point to
_REMEDIES = (
    ("Address already in use", "no port is free: stop what holds the ports, or widen"
     " net.ipv4.ip_local_port_range"),
    ("No buffer space", "raise net.core.optmem_max (sysctl) or the limit of locked memory"
     " (ulimit -l)"),
    ("Cannot allocate memory", "raise the limit of locked memory (ulimit -l) or ask for fewer"
     " threads or smaller messages"),
    ("Too many open files", "raise the limit of open files (ulimit -n) or ask for fewer threads"),
    ("Resource temporarily unavailable", "raise the limit of processes (ulimit -u) or ask for"
     " fewer threads"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why there is no measurement."""

    status: Literal["skipped", "failed"]
    reason: str
    remedy: str


def judge(error: CopycostError, sides: Sequence[Side]) -> Verdict:
    """Return why a repetition ended without a measurement.

    Parameters
    ----------
    error : CopycostError
        What was noticed first; often one side's end is only the echo of the other's.
    sides : sequence of Side
        The sides that had been started; both have ended by now.
    """
    if isinstance(error, TestbedUnavailable):
        return Verdict("skipped", error.reason, error.remedy)
    during = error.during if isinstance(error, SideEnded) else "drain"
    for side in sides:
        number = side.ended_by_signal()
        if number is not None:
            return _killed(side, number, during)
    named = {side.name: side for side in sides}
    if isinstance(error, SideEnded):
        return _exited(named[error.name], during)
    if isinstance(error, SideSilent):
        said = next((f", saying {line!r}" for side in sides for line in side.errors()[-1:]), "")
        return Verdict("failed", f"{error}{said}", f"look for an overloaded host, then {_AGAIN}")
    return Verdict("failed", str(error), _AGAIN)


def judge_exits(sides: Sequence[Side]) -> Verdict | None:
    """Return why both sides' ends are no success, None if they are one."""
    for side in sides:
        number = side.ended_by_signal()
        if number is not None:
            return _killed(side, number, "drain")
    for side in sides:
        if side.process.returncode != 0:
            return _exited(side, "drain")
    return None


def _killed(side: Side, number: int, during: str) -> Verdict:
    name = signal.Signals(number).name
    hint = "look for the out-of-memory killer in dmesg, then " if number == signal.SIGKILL else ""
    return Verdict(
        "failed", f"the {side.name} was killed by {name} during the {during}", f"{hint}{_AGAIN}"
    )


def _exited(side: Side, during: str) -> Verdict:
    code = side.process.returncode
    lines = side.errors()
    own = [line for line in lines if line.startswith(f"{side.name}:")]
    said = (own or lines or ["nothing on stderr"])[-1]
    if code == EXIT_UNAVAILABLE:
        return Verdict("skipped", said, "take this implementation out of config.yaml")
    remedy = next((remedy for mark, remedy in _REMEDIES if mark in said), _AGAIN)
    return Verdict("failed", f"{said} (exit status {code}, during the {during})", remedy)
