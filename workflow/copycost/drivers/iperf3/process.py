"""One iperf3 process: its command, how it is started, and what it left when it ended.

It does not outlive us: it gets a signal when its starter ends, see prctl(2), PR_SET_PDEATHSIG.
"""

import ctypes
import os
import signal
import subprocess
from dataclasses import dataclass, field
from typing import Literal

from copycost.errors import HostError
from copycost.testbeds.testbed import Testbed

Role = Literal["server", "client"]
Protocol = Literal["tcp", "udp"]

# linux/prctl.h
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Traffic:
    """What iperf3 shall send.

    Attributes
    ----------
    n_pairs, streams_per_pair : int
        See `copycost.drivers.iperf3.tool.Iperf3Tool.pairs`.
    message_bytes : int
        Bytes per write, over UDP the size of a datagram.
    seconds : int
        For how long; iperf3 takes whole seconds only.
    interval_s : float
        Length of the intervals that both sides report [s]; iperf3 takes 0.1 at least.
    congestion_control : str
        Over TCP.
    """

    path: str
    protocol: Protocol
    n_pairs: int
    streams_per_pair: int
    message_bytes: int
    seconds: int
    interval_s: float
    congestion_control: str

    @property
    def n_streams(self) -> int:
        """Streams of all pairs together [count]."""
        return self.n_pairs * self.streams_per_pair


@dataclass(slots=True)
class IperfProcess:
    """A running iperf3, its output in memory files."""

    role: Role
    process: subprocess.Popen[bytes]
    pidfd: int
    output_fd: int
    error_fd: int
    began_ns: int = field(default=0)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    def output(self) -> str:
        """Return what it has printed so far."""
        return content_of(self.output_fd)

    def last_words(self) -> str:
        """Return the last line on stderr, else the error in its JSON; '' if there is neither."""
        lines = [line for line in content_of(self.error_fd).splitlines() if line.strip()]
        return lines[-1].strip() if lines else _error_in(self.output())

    def end(self) -> None:
        """Kill it if it still runs, and wait for it."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """Give back the file descriptors."""
        for fd in (self.pidfd, self.output_fd, self.error_fd):
            os.close(fd)


def start_iperf3(
    role: Role, traffic: Traffic, testbed: Testbed, port: int, cpus: set[int], lock_fd: int
) -> IperfProcess:
    """Start a server or a client on some CPUs, in its side's namespace.

    Raises
    ------
    HostError
        If it cannot be executed.
    """
    side: Literal["sender", "receiver"] = "sender" if role == "client" else "receiver"
    command = _command(role, traffic, testbed.addresses[1], port)
    memory = [os.memfd_create(f"iperf3_{role}_{what}") for what in ("stdout", "stderr")]
    try:
        with testbed.inside(side):
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=memory[0],
                stderr=memory[1],
                pass_fds=(lock_fd,),
                process_group=0,
                preexec_fn=lambda: _prepare(cpus),
                env={**os.environ, "LC_ALL": "C"},
            )
    except (OSError, subprocess.SubprocessError) as error:
        for fd in memory:
            os.close(fd)
        raise HostError(f"{traffic.path}: cannot be started: {error}") from error
    return IperfProcess(role, process, os.pidfd_open(process.pid), memory[0], memory[1])


def _command(role: Role, traffic: Traffic, address: str, port: int) -> list[str]:
    """Return the command line, see iperf3(1)."""
    common = ["-p", str(port), "-J", "-i", f"{traffic.interval_s:g}"]
    if role == "server":
        return [traffic.path, "-s", "-1", "-B", address, *common]
    command = [traffic.path, "-c", address, "-t", str(traffic.seconds), *common]
    command += ["-l", str(traffic.message_bytes), "-P", str(traffic.streams_per_pair)]
    tcp = ["-C", traffic.congestion_control]
    return command + (["-u", "-b", "0"] if traffic.protocol == "udp" else tcp)


def _error_in(output: str) -> str:
    """Return the error that iperf3 left in its JSON, as far as it got."""
    for line in output.splitlines():
        key, _, value = line.strip().partition(":")
        if key == '"error"':
            return value.strip().strip('",')
    return ""


def _prepare(cpus: set[int]) -> None:
    """Between fork and exec: die with the starter, and stay on some CPUs."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.sched_setaffinity(0, cpus)


def content_of(fd: int) -> str:
    """Return what a memory file holds so far."""
    return os.pread(fd, os.fstat(fd).st_size, 0).decode(errors="replace")
