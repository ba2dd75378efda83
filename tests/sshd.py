"""A real sshd in namespaces of its own, as another machine: network, processes, name and clock.

It takes root; tests are skipped where there can be none.
"""

import getpass
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from slow_link import slow_link

from copycost.errors import HostError
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
_NAMESPACES = (
    *("unshare", "--time", "--monotonic", str(AHEAD_S), "--uts", "--pid", "--mount-proc"),
    *("--fork", "--kill-child"),
)


@dataclass
class Peer:
    """Another machine.

    Attributes
    ----------
    target
        How ssh reaches it, by its key and its own list of known hosts.
    folder
        Where its keys are, and what is brought to it.
    here, there
        Both ends of the network in between; we are to be in the first.
    sshd
        Its process, the father of the first of its namespaces.
    """

    target: SshTarget
    folder: Path
    here: NamespaceHost
    there: NamespaceHost
    sshd: subprocess.Popen[bytes]

    def processes(self) -> list[str]:
        """Return the command lines of what runs there, but for sshd's own."""
        return [line for line in self._all() if "sshd" not in line]

    def sessions(self) -> list[str]:
        """Return sshd's own processes for those who are logged in there."""
        return [line for line in self._all() if line.startswith("sshd: ") and "@" in line]

    def _all(self) -> list[str]:
        found = subprocess.run(
            ["nsenter", "--target", str(self.first()), "--pid", "--mount", "ps", "-ewwo", "args="],
            capture_output=True,
            text=True,
            check=True,
        )
        lines = [line.strip() for line in found.stdout.splitlines()]
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

    def run_inside(self, *words: str) -> None:
        """Run a command among its files and processes."""
        inside = ("nsenter", "--target", str(self.first()), "--pid", "--mount")
        subprocess.run([*inside, *words], check=True)

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

    Parameters
    ----------
    folder
        For its keys, and for what is brought to it.
    delay_s
        How long everything is under way to it, and from it.
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
            stack.enter_context(slow_link(here, there, ADDRESSES, delay_s))
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
