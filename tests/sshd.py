"""A real sshd in namespaces of its own, as another machine: network, processes, name and clock.

It takes root; tests are skipped where there can be none.
"""

import fcntl
import getpass
import os
import queue
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from copycost.errors import HostError
from copycost.hosts.facts.tools import run_tool
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import NamespaceHost, two_namespaces
from copycost.hosts.ssh.client import SshTarget
from copycost.hosts.testbeds.links import make_veth_pair, wait_until_running

ADDRESSES = ("198.18.0.1", "198.18.0.2")
AHEAD_S = 100_000
NODE = "otherhost"
_LIMIT_S = 10.0
SSHD = "/usr/sbin/sshd"
CONFIG = """\
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
SetEnv XDG_CACHE_HOME={folder}/cache
"""
# a /run and a name of its own: nothing outside is touched
_START = (
    "mount -t sysfs none /sys && mount -t tmpfs none /run && mkdir /run/sshd && hostname {node}"
    " && exec {sshd} -D -e -f {config}"
)
# linux/if_tun.h
_TUNSETIFF = 0x400454CA
_IFF_TAP, _IFF_NO_PI = 0x0002, 0x1000
_MOST_BYTES = 1 << 16
_MOST_FRAMES = 20_000
_NAMESPACES = (
    *("unshare", "--time", "--monotonic", str(AHEAD_S), "--uts", "--pid", "--mount-proc"),
    *("--fork", "--kill-child"),
)


@dataclass
class Peer:
    """Another machine."""

    target: SshTarget  # how ssh reaches it, by its key and its own list of known hosts
    folder: Path  # where its keys are, and what is brought to it
    # both ends of the network in between; we are to be in the first
    here: NamespaceHost
    there: NamespaceHost
    sshd: subprocess.Popen[bytes]  # the father of the first process of its namespaces

    def processes(self) -> list[str]:
        """Return the command lines of what runs there, but for sshd's own."""
        return [line for line in self._all() if "sshd" not in line]

    def sessions(self) -> list[str]:
        """Return sshd's own processes for those who are logged in there."""
        return [line for line in self._all() if line.startswith("sshd: ") and "@" in line]

    def _all(self) -> list[str]:
        lines = map(str.strip, self.run_inside("ps", "-ewwo", "args=").splitlines())
        return [line for line in lines if not line.startswith("ps -e")]

    def programs(self) -> list[str]:
        """Return the same without the agent that a run keeps, and what starts it."""
        return [line for line in self.processes() if "/agent-" not in line]

    def first(self) -> int:
        """Return the process id, seen from here, of the first process there."""
        children = Path(f"/proc/{self.sshd.pid}/task/{self.sshd.pid}/children").read_text()
        return int(children.split()[0])

    def reboot(self) -> None:
        """End all that runs there, and begin anew; its network stays."""
        self.sshd.kill()
        self.sshd.wait()
        self.sshd = _boot(self.folder, self.there)

    def run_inside(self, *words: str) -> str:
        """Run a command among its files and processes; return what it prints."""
        inside = ("nsenter", "--target", str(self.first()), "--pid", "--mount")
        return subprocess.check_output([*inside, *words], text=True)

    @contextmanager
    def cache_on(self, options: str) -> Iterator[Path]:
        """Have what is brought there lie in a file system with these options; yield the folder."""
        cache = self.folder / "cache"
        self.run_inside("mkdir", "-p", str(cache))
        self.run_inside("mount", "-t", "tmpfs", "-o", options, "none", str(cache))
        try:
            yield cache
        finally:
            self.run_inside("umount", "--lazy", str(cache))


def need_sshd() -> None:
    """Skip the test if there is no sshd."""
    if not Path(SSHD).exists():
        pytest.skip("sshd is not installed (openssh-server)")


def new_keys(folder: Path, *names: str) -> None:
    """Make pairs of keys, if not named otherwise those of a user and of a host."""
    for name in names or ("key", "host_key"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(words, check=True)


@contextmanager
def peer(folder: Path, delay_s: float = 0.0) -> Iterator[Peer]:
    """Build it, and run the block in its neighbour's network.

    The folder is for its keys, and for what is brought to it. Everything is under way to it for
    `delay_s`, and from it.
    """
    need_sshd()
    if subprocess.run([*_NAMESPACES, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("the namespaces of another machine cannot be made here")
    new_keys(folder)
    (folder / "sshd_config").write_text(CONFIG.format(folder=folder))
    host_key = " ".join((folder / "host_key.pub").read_text().split()[:2])
    (folder / "known_hosts").write_text(f"{ADDRESSES[1]} {host_key}\n")
    with two_namespaces() as (first, second, _), ExitStack() as stack:
        machine = LocalHost()
        here = NamespaceHost(machine, first, "here")
        there = NamespaceHost(machine, second, "there")
        if delay_s:
            stack.enter_context(slow_link(here, there, delay_s))
        else:
            make_veth_pair(here, there, ADDRESSES)
        wait_until_running(here, "sender")
        wait_until_running(there, "receiver")
        options = ("-F", "none", "-i", str(folder / "key"), "-o", "IdentitiesOnly=yes")
        known = ("-o", f"UserKnownHostsFile={folder / 'known_hosts'}")
        target = SshTarget(f"{getpass.getuser()}@{ADDRESSES[1]}", (*options, *known))
        made = Peer(target, folder, here, there, _boot(folder, there))
        try:
            with here.inside():
                try:
                    yield made
                finally:
                    target.close()
        finally:
            made.sshd.kill()
            made.sshd.wait()


def _boot(folder: Path, there: NamespaceHost) -> subprocess.Popen[bytes]:
    """Start sshd in its namespaces, and return once it listens."""
    start = _START.format(node=NODE, sshd=SSHD, config=folder / "sshd_config")
    log = folder / "sshd.log"
    with there.inside(), log.open("wb") as said:
        sshd = subprocess.Popen([*_NAMESPACES, "sh", "-c", start], stdout=said, stderr=said)
    deadline_s = time.monotonic() + _LIMIT_S
    while "Server listening" not in log.read_text():
        if time.monotonic() >= deadline_s:
            sshd.kill()
            raise HostError(f"sshd did not start: {log.read_text()}")
        time.sleep(0.01)
    return sshd


@contextmanager
def slow_link(here: NamespaceHost, there: NamespaceHost, delay_s: float) -> Iterator[None]:
    """Join two namespaces by a long way for the block: frames of two TAP devices, handed on late.

    For where the kernel has no netem; what is sent is never faster than Python hands it on, so it
    is for delays and not for rates. Source: Documentation/networking/tuntap.rst of the kernel.
    """
    ends = [_tap(here, "sender", ADDRESSES[0]), _tap(there, "receiver", ADDRESSES[1])]
    relay = os.fork()  # a process of its own: threads of ours would share Python's lock with it
    if relay == 0:
        _hand_on(ends, delay_s)
    for fd in ends:
        os.close(fd)
    try:
        yield
    finally:
        os.kill(relay, 9)
        os.waitpid(relay, 0)


def _tap(host: NamespaceHost, name: str, address: str) -> int:
    """Make a device in a namespace; it lives as long as the descriptor."""
    with host.inside():
        fd = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
        request = struct.pack("16sH22x", name.encode(), _IFF_TAP | _IFF_NO_PI)
        fcntl.ioctl(fd, _TUNSETIFF, request)
    up = [f"address add {address}/30 dev {name}", f"link set dev {name} up", "link set dev lo up"]
    run_tool(["ip", "-batch", "-"], host, "\n".join(up) + "\n")
    return fd


def _hand_on(ends: list[int], delay_s: float) -> None:
    """Hand frames on both ways until the process that asked for it has ended."""
    parent = os.getppid()
    for source, target in (ends, ends[::-1]):
        frames: queue.Queue[tuple[float, bytes]] = queue.Queue(_MOST_FRAMES)
        threading.Thread(target=_take, args=(source, frames, delay_s), daemon=True).start()
        threading.Thread(target=_give, args=(target, frames), daemon=True).start()
    while os.getppid() == parent:
        time.sleep(0.1)
    os._exit(0)


def _take(source: int, frames: "queue.Queue[tuple[float, bytes]]", delay_s: float) -> None:
    while True:
        frame = os.read(source, _MOST_BYTES)
        frames.put((time.monotonic() + delay_s, frame))


def _give(target: int, frames: "queue.Queue[tuple[float, bytes]]") -> None:
    while True:
        due_s, frame = frames.get()
        time.sleep(max(0.0, due_s - time.monotonic()))
        os.write(target, frame)
