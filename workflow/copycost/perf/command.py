"""The perf command around one side, counting only when the side itself switches it on."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# a control pipe (program to perf) and an acknowledgement pipe (perf to program), two ends each
N_PERF_FDS = 4


@dataclass(frozen=True, slots=True)
class PerfPlan:
    """How to call perf on this host.

    Attributes
    ----------
    path : str
        The perf program.
    events : dict
        The events to ask for: our name and perf's.
    """

    path: str
    events: dict[str, str]


def plan_perf(host: Mapping[str, Any]) -> PerfPlan | None:
    """Return how to call perf, from the host facts; None where it is missing or forbidden.

    Events that the host does not support are not asked for: one unknown name would stop perf.
    """
    perf = host["perf"]
    supported = {
        name: event["perf_name"]
        for name, event in perf["events"].items()
        if event["status"] == "supported"
    }
    if perf["status"] != "available" or not supported:
        return None
    return PerfPlan(perf["path"], supported)


@dataclass(frozen=True, slots=True)
class ControlPipes:
    """Both pipes of `perf stat --control`, as file descriptors."""

    control_read: int
    control_write: int
    ack_read: int
    ack_write: int

    @classmethod
    def make(cls) -> "ControlPipes":
        """Make both pipes; their ends are closed on exec unless passed on."""
        return cls(*os.pipe(), *os.pipe())

    @property
    def fds(self) -> tuple[int, ...]:
        """All four ends; perf and the program below it inherit them together."""
        return (self.control_read, self.control_write, self.ack_read, self.ack_write)

    @property
    def program_option(self) -> list[str]:
        """The option that tells the program its two ends."""
        return ["--perf-fds", f"{self.control_write},{self.ack_read}"]


def perf_command(
    plan: PerfPlan, pipes: ControlPipes, output_fd: int, program: Sequence[str]
) -> list[str]:
    """Return the command that runs `program` under perf, switched off at first (-D -1).

    Counts go to `output_fd` as JSON; so stdout and stderr are the program's own. Threads that the
    program makes are counted too, which is perf's default.

    Source: perf-stat(1), options --control, --delay, --json, --log-fd.
    """
    return [
        plan.path,
        "stat",
        "--json",
        "--log-fd",
        str(output_fd),
        "--delay",
        "-1",
        "--control",
        f"fd:{pipes.control_read},{pipes.ack_write}",
        "--event",
        ",".join(plan.events.values()),
        "--",
        *program,
    ]
