"""Anonymous network namespaces, as hosts: they live as long as what is in them, and leave no trace.

`ip netns add` would leave a mount behind after a crash, and its names would meet those of another
run. A namespace that only a file descriptor holds needs no name and no clean-up, not even after
``kill -9``.

Source: namespaces(7), user_namespaces(7), unshare(2), setns(2).
"""

import ctypes
import errno
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from copycost.errors import Unavailable
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.local import LocalHost, of_this_thread

Isolation = Literal["root", "user_namespace", "host"]

# linux/sched.h; the os module has unshare and setns only since Python 3.12
_CLONE_NEWNET = 0x40000000
_CLONE_NEWUSER = 0x10000000

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Namespace:
    """A network namespace, held by an open file descriptor."""

    fd: int

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Move the calling thread, and with it what it starts, into the namespace.

        Processes stay in the namespace in which they were started, so a child is started inside
        this block and needs no `nsenter`.
        """
        before = _own_network()
        try:
            _call("setns", self.fd, _CLONE_NEWNET)
            try:
                yield
            finally:
                _call("setns", before, _CLONE_NEWNET)
        finally:
            os.close(before)


@contextmanager
def two_namespaces() -> Iterator[tuple[Namespace, Namespace, Isolation]]:
    """Make the sender's and the receiver's network namespace, and leave them at the end.

    As root of the host the calling thread is back where it was afterwards. Anybody else has entered
    a user namespace or a network namespace for good: call this in a process of its own, which has
    one thread. Unavailable if the kernel, or a rule of the distribution, allows none.
    """
    held = [_own_network()]
    entered_user_namespace = _unshare_first()
    isolation = _isolation()
    try:
        held.append(_own_network())
        _call("unshare", _CLONE_NEWNET)
        held.append(_own_network())
        yield Namespace(held[1]), Namespace(held[2]), isolation
    finally:
        if not entered_user_namespace:  # there is no way back out of one
            # nor into a network namespace that belongs to a user namespace further out
            with suppress(PermissionError):
                _call("setns", held[0], _CLONE_NEWNET)
        for fd in held:
            os.close(fd)


def enter_new_namespace() -> Isolation:
    """Enter a new network namespace for good; return whether as root or in a user namespace."""
    _unshare_first()
    return _isolation()


def join_namespaces(user_fd: int, network_fd: int) -> None:
    """Enter a user namespace of ours, and a network namespace of it, both for good."""
    # one that we are in already cannot be entered again
    if os.fstat(user_fd).st_ino != Path("/proc/self/ns/user").stat().st_ino:
        _call("setns", user_fd, _CLONE_NEWUSER)
    _call("setns", network_fd, _CLONE_NEWNET)


def _own_network() -> int:
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def _unshare_first() -> bool:
    """Enter a new network namespace; return whether that took a new user namespace."""
    uid, gid = os.geteuid(), os.getegid()
    wanted = "network namespace"
    try:
        with suppress(PermissionError):
            _call("unshare", _CLONE_NEWNET)
            return False
        wanted = "user namespace"
        _call("unshare", _CLONE_NEWUSER)
        wanted = "network namespace in a user namespace"
        # without "deny" an unprivileged process may not map its group
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
        Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
        _call("unshare", _CLONE_NEWNET)
    except OSError as error:
        reason = f"this host allows no {wanted} ({error.strerror or error})"
        raise Unavailable(reason, _remedy(error.errno)) from error
    return True


def _isolation() -> Isolation:
    """Return in whose name we may make namespaces now: root's, or a user namespace's."""
    map_of_all = ["0", "0", "4294967295"]
    is_first = Path("/proc/self/uid_map").read_text().split() == map_of_all
    return "root" if is_first else "user_namespace"


def _call(name: str, *arguments: int) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


# settings of the kernel, their values that forbid ordinary users to make namespaces, and what helps
SWITCHES = (
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "run as root, or allow them", "0"),
    ("kernel/unprivileged_userns_clone", "0", "run as root, or allow them", "1"),
    ("user/max_user_namespaces", "0", "raise the limit", "1000"),
    ("user/max_net_namespaces", "0", "raise the limit", "1000"),
)


def _remedy(code: int | None) -> str:
    """Return what would allow namespaces here, by the kernel's settings and unshare(2)'s error."""
    for path, forbids, cure, allows in SWITCHES:
        if HostFiles().text(f"proc/sys/{path}") == forbids:
            return f"{cure}: sudo sysctl {path.replace('/', '.')}={allows}"
    if code == errno.ENOSPC:
        return "the limit of nested namespaces is reached: run outside of one of them"
    return (
        "run as root, or in a container that may make namespaces (--cap-add SYS_ADMIN or"
        " --privileged), or measure the loopback testbed"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceFiles(HostFiles):
    """The kernel's files as a process in the namespace sees them."""

    namespace: Namespace

    def text(self, path: str) -> str | None:
        """Return the stripped content of a file, or None where it cannot be read."""
        with self.namespace.entered():
            return HostFiles(self.root).text(of_this_thread(path))


class NamespaceHost(LocalHost):
    """A network namespace of a machine."""

    def __init__(self, machine: LocalHost, namespace: Namespace, name: str) -> None:
        super().__init__(name)
        self.machine = machine
        self.namespace = namespace
        self.files = NamespaceFiles(namespace=namespace)
        self._held_fds = machine._held_fds

    def inside(self) -> AbstractContextManager[None]:
        """Return a block in which what is started, opened or connected belongs to the namespace."""
        return self.namespace.entered()
