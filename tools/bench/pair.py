"""Our own sender and receiver on a testbed, without perf and without a record."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from copycost.build.toolchain import compile_program
from copycost.config.cells import Cell
from copycost.config.settings import Mode, Settings
from copycost.errors import HostError
from copycost.hosts.side import SIDES
from copycost.measure.bench import HeldHost
from copycost.measure.drivers.programs.driver import Programs as OurPrograms
from copycost.measure.drivers.protocol import NoMeasurement, Payload, Setup
from copycost.testbeds.testbed import Testbed
from tools.bench.yardstick import Stream

# one hot message needs no size of a cache
_NO_FACTS = {"cpu": {"caches": {"llc_bytes": None}}}
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
    held: HeldHost,
    testbed: Testbed,
    programs: Programs,
    sender: str,
    stream: Stream,
    mode: Mode = "stream",
) -> Payload:
    """Run a sender (a strategy, or one with `BARE` behind it) and a receiver for one window.

    Raises
    ------
    HostError
        If one of them fails; the message holds what it said.
    """
    setup = Setup(
        cell=Cell(
            "streams",
            testbed.kind,
            sender.removesuffix(BARE),
            stream.msg_bytes,
            stream.n_threads,
        ),
        settings=Settings(stream.warmup_s, stream.duration_s, "cubic", mode=mode),
        facts=dict.fromkeys(SIDES, _NO_FACTS),
        machine=held.machine,
        placement=stream.placement,
        testbed=testbed,
        waiting=held.waiting,
        around=lambda _side, launch: launch,
    )
    driver = OurPrograms(programs.sender(sender), programs.receiver)
    try:
        with driver.traffic(setup) as traffic:
            window = traffic.open_window(stream.warmup_s, stream.duration_s)
            traffic.watch_until(window.start_ns, "window")
            traffic.watch_until(window.end_ns, "drain")
            return traffic.finish()
    except NoMeasurement as error:
        raise HostError(f"bench: {sender} failed: {error.verdict.reason}") from error


def received_rate(measured: Payload) -> float:
    """Return what the receiver got in its window [bit/s]."""
    receiver = measured.entry["receiver"]
    window, received_bytes = receiver["window"], receiver["in_window"]["bytes"]
    return float(received_bytes * 8e9 / (window["end_ns"] - window["start_ns"]))


def message_ns(measured: Payload) -> float:
    """Return the time of a sending thread per message [ns]."""
    window = measured.entry["sender"]["window"]
    n_threads = len(measured.entry["sender"]["threads"])
    messages = measured.entry["sender"]["in_window"]["messages"]
    return float(n_threads * (window["end_ns"] - window["start_ns"]) / messages)


def median_round_trip_ns(measured: Payload) -> float:
    """Return the median time from a request to its reply [ns].

    Raises
    ------
    HostError
        If the window holds no round trip.
    """
    median_ns = measured.entry["sender"]["round_trip"]["p50_ns"]
    if median_ns is None:
        raise HostError("bench: no round trip fitted into the window; make it longer (--seconds)")
    return float(median_ns)
