"""Our own sender and receiver on a testbed, without perf and without a record."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from copycost.build.toolchain import compile_program
from copycost.config.config import Settings, Study
from copycost.drivers.failure import Verdict
from copycost.drivers.programs.attempt import Measurement, run_attempt
from copycost.drivers.programs.task import Task
from copycost.errors import HostError
from copycost.grid.cells import Cell
from copycost.grid.conditions import HOT, RECV
from copycost.hosts.placement import Placement
from copycost.testbeds.testbed import Testbed
from tools.bench.iperf import Stream

_IO_TIMEOUT_S = 10.0
# names of a strategy's sender that takes no service-time samples end with this
BARE = "_bare"


@dataclass(frozen=True, slots=True)
class Programs:
    """The compiled programs in a folder: a receiver, and per strategy a sender and a bare one."""

    folder: Path

    def build(self, strategies: Iterable[str], root: Path) -> None:
        """Compile with the flags that are measured."""
        compile_program("receiver", "recv", self.receiver, root=root)
        for strategy in strategies:
            sender = self.sender(strategy)
            compile_program("sender", strategy, sender, root=root)
            # options may stand in any order, so a script can add one to those it is called with
            bare = self.sender(strategy + BARE)
            bare.write_text(f'#!/bin/sh\nexec {shlex.quote(str(sender))} "$@" --sample-every 0\n')
            bare.chmod(0o755)

    @property
    def receiver(self) -> Path:
        """Path of the receiver."""
        return self.folder / "receiver"

    def sender(self, name: str) -> Path:
        """Path of a strategy's sender."""
        return self.folder / f"sender_{name}"


def run_pair(
    testbed: Testbed,
    programs: Programs,
    sender: str,
    stream: Stream,
    lock_fd: int,
    study: Study = "streams",
) -> Measurement:
    """Run a sender and a receiver for one window.

    Parameters
    ----------
    sender : str
        A strategy, or one with `BARE` behind it.
    study : str
        Whether messages stream, or each waits for its reply.
    lock_fd : int
        The host-wide lock against other measurements.

    Raises
    ------
    HostError
        If one of them fails; the message holds what it said.
    """
    task = Task(
        cell=Cell(
            study=study,
            testbed=testbed.kind,
            implementation=sender.removesuffix(BARE),
            msg_bytes=stream.msg_bytes,
            n_threads=stream.n_streams,
            working_set=HOT,
            receiver=RECV,
            rep=1,
        ),
        settings=Settings(
            warmup_s=stream.warmup_s,
            duration_s=stream.duration_s,
            congestion_control="cubic",
            tcp_nodelay="kernel",
            send_buffer_bytes=None,
            receive_buffer_bytes=None,
            sender_cpus=stream.sender_cpus,
            receiver_cpus=stream.receiver_cpus,
            fresh=False,
            interval_us=0,
        ),
        sender=programs.sender(sender),
        receiver=programs.receiver,
        ring_bytes=0,
        host={},
        io_timeout_s=_IO_TIMEOUT_S,
        parent_fds=(),
        lock_fd=lock_fd,
    )
    placement = Placement(stream.sender_cpus, stream.receiver_cpus)
    outcome = run_attempt(task, placement, testbed, None)
    if isinstance(outcome, Verdict):
        raise HostError(f"bench: {sender} failed: {outcome.reason}")
    return outcome


def received_rate(measured: Measurement) -> float:
    """Return what the receiver got in its window [bit/s]."""
    assert measured.receiver is not None, "our pair always has one"
    window = measured.receiver["window"]
    received_bytes = measured.receiver["in_window"]["bytes"]
    return float(received_bytes * 8e9 / (window["end_ns"] - window["start_ns"]))


def message_ns(measured: Measurement) -> float:
    """Return the time of a sending thread per message [ns]."""
    window = measured.sender["window"]
    n_threads = len(measured.sender["threads"])
    messages = measured.sender["in_window"]["messages"]
    return float(n_threads * (window["end_ns"] - window["start_ns"]) / messages)


def median_round_trip_ns(measured: Measurement) -> float:
    """Return the median time from a request to its reply [ns].

    Raises
    ------
    HostError
        If the window holds no round trip.
    """
    median_ns = measured.sender["round_trip"]["p50_ns"]
    if median_ns is None:
        raise HostError("bench: no round trip fitted into the window; make it longer (--seconds)")
    return float(median_ns)
