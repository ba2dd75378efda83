"""Put something in the way of a command, then become that command.

``python failures_wrappers.py WHAT COMMAND...``; all but those that forbid something expect a
network namespace of their own, in which they may do what they like.
"""

import ctypes
import errno
import os
import platform
import socket
import struct
import subprocess
import sys
from pathlib import Path

PORT = 50000

# linux/prctl.h, linux/seccomp.h, linux/bpf_common.h
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
RET_ALLOW, RET_ERRNO = 0x7FFF0000, 0x00050000
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
# offsets in struct seccomp_data: the system call's number, and its arguments' lower halves
NUMBER, ARGUMENTS = 0, (16, 24, 32)
# numbers of system calls
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
SOCKET = {"x86_64": 41, "aarch64": 198}
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


def forbid_nftables() -> None:
    """Refuse the sockets through which nftables is set up, as hardened hosts do."""
    forbid(
        errno.EPERM,
        (NUMBER, SOCKET[platform.machine()]),
        (ARGUMENTS[0], socket.AF_NETLINK),
        (ARGUMENTS[2], NETLINK_NETFILTER),
    )


def loopback_up() -> None:
    """Make the new namespace's loopback device work."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def ports_in_use() -> None:
    """Listen on the only port that there is, also after the command has taken over."""
    loopback_up()
    Path("/proc/sys/net/ipv4/ip_local_port_range").write_text(f"{PORT} {PORT}")
    taken = socket.create_server(("127.0.0.1", PORT))
    os.set_inheritable(taken.detach(), True)


def small_optmem() -> None:
    """Let a socket pin next to nothing."""
    loopback_up()
    Path("/proc/sys/net/core/optmem_max").write_text("1")


if __name__ == "__main__":
    wrappers = (forbid_nftables, forbid_perf, ports_in_use, small_optmem)
    {wrapper.__name__: wrapper for wrapper in wrappers}[sys.argv[1]]()
    os.execvp(sys.argv[2], sys.argv[2:])
