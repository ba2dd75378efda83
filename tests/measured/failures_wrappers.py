"""Put something in the way of a command, then become that command.

``python failures_wrappers.py WHAT COMMAND...``; all but those that forbid something expect a
network namespace of their own, in which they may do what they like.
"""

import ctypes
import errno
import os
import platform
import resource
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PORTS = range(50000, 50008)
FEW_DESCRIPTORS = 20

# linux/prctl.h, linux/seccomp.h, linux/bpf_common.h
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
RET_ALLOW, RET_ERRNO = 0x7FFF0000, 0x00050000
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
# offsets in struct seccomp_data: the system call's number, and its arguments' lower halves
NUMBER, ARGUMENTS = 0, (16, 24, 32)
# numbers of system calls; newer ones are the same everywhere
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
SOCKET = {"x86_64": 41, "aarch64": 198}
IO_URING_SETUP = 425
# linux/netlink.h
NETLINK_NETFILTER = 12


def forbid(error: int, *conditions: tuple[int, int]) -> None:
    """Refuse with an error the system calls whose words at these offsets have these values."""
    steps = []
    for i, (offset, value) in enumerate(conditions):
        to_the_end = 2 * (len(conditions) - i) - 1
        steps += [(LOAD_WORD, 0, 0, offset), (JUMP_IF_EQUAL, 0, to_the_end, value)]
    steps += [(RETURN, 0, 0, RET_ERRNO | error), (RETURN, 0, 0, RET_ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    filter_ = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter_, 0, 0) == 0, ctypes.get_errno()


def forbid_perf() -> None:
    """Refuse perf_event_open(2), as containers do."""
    forbid(errno.EACCES, (NUMBER, PERF_EVENT_OPEN[platform.machine()]))


def forbid_io_uring() -> None:
    """Refuse io_uring_setup(2) as the sysctl kernel.io_uring_disabled does."""
    forbid(errno.EPERM, (NUMBER, IO_URING_SETUP))


def forbid_nftables() -> None:
    """Refuse the sockets through which nftables is set up, as hardened hosts do."""
    forbid(
        errno.EPERM,
        (NUMBER, SOCKET[platform.machine()]),
        (ARGUMENTS[0], socket.AF_NETLINK),
        (ARGUMENTS[2], NETLINK_NETFILTER),
    )


def few_descriptors() -> None:
    """Leave a process so few descriptors that it can begin a repetition, and not do it."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (FEW_DESCRIPTORS, FEW_DESCRIPTORS))


def loopback_up() -> None:
    """Make the new namespace's loopback device work."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def few_ports(ports: range) -> None:
    """Leave the kernel only these ports to choose from."""
    loopback_up()
    limits = f"{ports[0]} {ports[-1]}"
    Path("/proc/sys/net/ipv4/ip_local_port_range").write_text(limits)


def ports_in_use() -> None:
    """Listen on the only port that there is, also after the command has taken over."""
    few_ports(PORTS[:1])
    taken = socket.create_server(("127.0.0.1", PORTS[0]))
    os.set_inheritable(taken.detach(), True)


def small_optmem() -> None:
    """Let a socket pin next to nothing."""
    loopback_up()
    Path("/proc/sys/net/core/optmem_max").write_text("1")


def strangers() -> None:
    """Let two strangers meet whoever listens: one talks nonsense, one says nothing."""
    few_ports(PORTS)
    command = os.getpid()
    if os.fork() != 0:
        return
    met: list[socket.socket] = []
    while os.getppid() == command and len(met) < 2:
        for port in PORTS:
            with suppress(OSError):
                met.append(socket.create_connection(("127.0.0.1", port), timeout=1))
                if len(met) == 1:
                    met[0].sendall(b"GET / HTTP/1.0\r\n\r\n" * 10)
    while os.getppid() == command:  # stay connected, and silent
        with suppress(OSError):
            met[0].settimeout(0.05)
            met[0].recv(1)
    os._exit(0)


if __name__ == "__main__":
    wrappers: list[Callable[[], None]] = [
        forbid_io_uring,
        forbid_nftables,
        few_descriptors,
        forbid_perf,
        ports_in_use,
        small_optmem,
        strangers,
    ]
    dict((wrapper.__name__, wrapper) for wrapper in wrappers)[sys.argv[1]]()
    os.execvp(sys.argv[2], sys.argv[2:])
