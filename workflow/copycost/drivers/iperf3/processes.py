"""Run iperf3 in a testbed, watched: whatever dies or hangs is noticed and named."""

import select
import signal
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from copycost.drivers.iperf3.process import IperfProcess, Role, Traffic, start_iperf3
from copycost.errors import HostError
from copycost.hosts.parent import MeasurementStopped
from copycost.hosts.placement import Placement
from copycost.hosts.process_usage import written_bytes
from copycost.testbeds.testbed import Testbed

# in a namespace of our own every port is free; iperf3's usual one
_FIRST_PORT = 5201
_LISTENING = "0A"  # TCP_LISTEN in include/net/tcp_states.h
_POLL_S = 0.001


class ProcessEnded(HostError):
    """An iperf3 process ended before its time, or did not do its work in time."""


class Iperf3Run:
    """All iperf3 processes of one repetition; to be used in a ``with`` block.

    Parameters
    ----------
    placement : Placement
        Pair i is pinned to the i-th CPU of each side; a pair with several streams to as many.
    lock_fd : int
        The host-wide lock, which the processes inherit.
    parent_fds : sequence of int
        Descriptors that become readable when nobody waits for this measurement any more.
    timeout_s : float
        Longest wait for a start or an end [s].

    Attributes
    ----------
    servers, clients : list of IperfProcess
        Pair by pair.
    ports : list of int
        Those at which the servers listen.
    """

    def __init__(
        self,
        traffic: Traffic,
        testbed: Testbed,
        placement: Placement,
        lock_fd: int,
        parent_fds: Sequence[int],
        timeout_s: float,
    ) -> None:
        self.servers: list[IperfProcess] = []
        self.clients: list[IperfProcess] = []
        self.ports: list[int] = []
        self._traffic = traffic
        self._testbed = testbed
        self._placement = placement
        self._lock_fd = lock_fd
        self._parent_fds = tuple(parent_fds)
        self._timeout_s = timeout_s

    def __enter__(self) -> "Iperf3Run":
        """Start the servers, then the clients, each once the one before it sends.

        Its begin is the zero of the times in its report, so it must not be noted late.
        """
        try:
            ports = self.ports = self._free_ports()
            for index, port in enumerate(ports):
                self._start("server", index, port)
            self._await_listening(ports)
            for index, port in enumerate(ports):
                self._start("client", index, port)
                self._await_traffic(self.clients[index])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """End whatever still runs."""
        for process in (*self.clients, *self.servers):
            process.end()
            process.close()

    def pids(self, role: Role) -> tuple[int, ...]:
        """Return the process ids of one role."""
        return tuple(process.pid for process in self._of(role))

    def watch_until(self, until_ns: int, during: str) -> None:
        """Wait for a moment (CLOCK_MONOTONIC) [ns] while all processes live."""
        ended = self._poll([*self.clients, *self.servers], until_ns / 1e9)
        if ended:
            raise self._ended(ended[0], during)

    def await_end(self) -> None:
        """Wait until all have ended by themselves.

        Raises
        ------
        ProcessEnded
            If one does not, or if a signal ended it.
        """
        running = [*self.clients, *self.servers]
        deadline_s = time.monotonic() + self._traffic.seconds + self._timeout_s
        while running:
            ended = self._poll(running, deadline_s)
            if not ended:
                raise ProcessEnded(f"the iperf3 {running[0].role} did not end in time")
            for process in ended:
                running.remove(process)
                if process.process.wait() < 0:
                    raise self._ended(process, "drain")

    def _of(self, role: Role) -> list[IperfProcess]:
        return self.servers if role == "server" else self.clients

    def _free_ports(self) -> list[int]:
        n = self._traffic.n_pairs
        if self._testbed.receiver is not None:
            return [_FIRST_PORT + index for index in range(n)]
        probes = [socket.socket() for _ in range(n)]
        try:
            for probe in probes:
                probe.bind((self._testbed.addresses[1], 0))
            return [probe.getsockname()[1] for probe in probes]
        finally:
            for probe in probes:
                probe.close()

    def _start(self, role: Role, index: int, port: int) -> None:
        cpus = self._cpus("sender" if role == "client" else "receiver", index)
        process = start_iperf3(role, self._traffic, self._testbed, port, cpus, self._lock_fd)
        self._of(role).append(process)

    def _cpus(self, side: Literal["sender", "receiver"], index: int) -> set[int]:
        cpus = self._placement.sender_cpus if side == "sender" else self._placement.receiver_cpus
        first = index * self._traffic.streams_per_pair
        return {cpus[(first + i) % len(cpus)] for i in range(self._traffic.streams_per_pair)}

    def _await_listening(self, ports: Sequence[int]) -> None:
        wanted = {f"{port:04X}" for port in ports}
        deadline_s = time.monotonic() + self._timeout_s
        while not wanted <= self._listening():
            if ended := self._poll(self.servers, time.monotonic() + _POLL_S):
                raise self._ended(ended[0], "start")
            if time.monotonic() > deadline_s:
                raise ProcessEnded(f"no iperf3 server listened within {self._timeout_s:g} s")

    def _listening(self) -> set[str]:
        """Return the ports at which somebody listens, in the words of /proc/net/tcp."""
        with self._testbed.inside("receiver"):
            rows = Path("/proc/thread-self/net/tcp").read_text().splitlines()[1:]
        found = [row.split() for row in rows]
        return {row[1].rpartition(":")[2] for row in found if row[3] == _LISTENING}

    def _await_traffic(self, client: IperfProcess) -> None:
        """Wait until a client has written a message, and note when it began to."""
        deadline_s = time.monotonic() + self._timeout_s
        # the control connection carries less than this; the first message comes after it
        enough = 4096 + self._traffic.message_bytes
        while not client.began_ns:
            written = written_bytes(client.pid)
            if written is None or written >= enough:
                client.began_ns = time.monotonic_ns()
            if ended := self._poll([*self.clients, *self.servers], time.monotonic() + _POLL_S):
                raise self._ended(ended[0], "start")
            if time.monotonic() > deadline_s:
                raise ProcessEnded(f"an iperf3 client did not send within {self._timeout_s:g} s")

    def _poll(self, processes: Sequence[IperfProcess], deadline_s: float) -> list[IperfProcess]:
        """Return which processes have ended, at the latest at a time."""
        poll = select.poll()
        for fd in (*(process.pidfd for process in processes), *self._parent_fds):
            poll.register(fd, select.POLLIN)
        left_ms = max(0.0, deadline_s - time.monotonic()) * 1e3
        ready = {fd for fd, _ in poll.poll(left_ms)}
        if ready.intersection(self._parent_fds):
            raise MeasurementStopped("the workflow ended; run it again to measure what is left")
        return [process for process in processes if process.pidfd in ready]

    def _ended(self, process: IperfProcess, during: str) -> ProcessEnded:
        """Return what is known of a process that ended too early."""
        code = process.process.wait()
        # the client's end is often only the echo of its server's
        for other in self.servers:
            with suppress(ValueError):
                if other is not process and (other.process.poll() or 0) < 0:
                    process, code = other, other.process.returncode
        said = process.last_words()
        if code == 0 and not said:
            return ProcessEnded(
                f"the {self._traffic.seconds} s of the iperf3 {process.role} were over during the"
                f" {during}: the host is too busy, or {self._traffic.n_streams} streams too many"
                " for it"
            )
        how = f"exit status {code}" if code >= 0 else f"by {signal.Signals(-code).name}"
        return ProcessEnded(
            f"the iperf3 {process.role} ended during the {during} ({how}),"
            f" saying: {said or 'nothing'}"
        )
