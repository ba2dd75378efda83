"""Another machine, by a real sshd: reached, refused, broken, and left as it was."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from programs import add_program, until
from sshd import AHEAD_S, NODE, Peer, new_keys

from copycost.errors import AttemptFailed, ConfigError, Unavailable
from copycost.hosts.program import Launch
from copycost.hosts.ssh import host as ssh_host
from copycost.hosts.ssh.client import SshTarget
from copycost.hosts.ssh.host import SshHost, clean

pytestmark = pytest.mark.needs_root
LONG_S = 10.0
# nothing may be left after so long, whatever was killed or cut
SOON_S = 5.0
SLEEP = Launch(("/bin/sleep", "60"), "/bin/sleep")


def test_sessions_of_a_run_share_one_connection(peer: Peer) -> None:
    accepted = (peer.folder / "sshd.log").read_text().count("Accepted publickey")
    with SshHost(peer.target):
        pass
    for _ in range(3):
        with SshHost(peer.target) as host:
            assert host.run(["true"]).returncode == 0
    log = (peer.folder / "sshd.log").read_text()
    assert log.count("Accepted publickey") <= accepted + 1


def test_another_machine_serves_us_in_its_own_clock_and_name_and_keeps_what_was_brought(
    peer: Peer,
) -> None:
    own = peer.folder / "own"
    own.write_text("#!/bin/sh\necho ours\n")
    with SshHost(peer.target) as host:
        assert host.kind == "ssh"
        assert host.run(["hostname"]).stdout == f"{NODE}\n"
        assert abs(host.clock_offset_ns - AHEAD_S * 10**9) <= host.clock_uncertainty_ns < 50e6
        assert host.run([host.path_of(own)]).stdout == "ours\n"
        program = host.start(SLEEP)
        assert "/bin/sleep 60" in peer.processes()
    program.close()
    until(lambda: peer.processes() == [])
    cache = peer.folder / "cache" / "copycost"
    assert len(list(cache.glob("agent-*.pyz"))) == 1
    assert len(list(cache.glob("programs/*/own"))) == 1
    clean(peer.target)
    assert not cache.exists()
    with SshHost(peer.target) as host:
        assert host.run(["true"]).returncode == 0


class SmallRun:
    """See kept_run.py."""

    def __init__(self, peer: Peer) -> None:
        words = [sys.executable, str(Path(__file__).with_name("kept_run.py")), peer.target.name]
        self.peer = peer
        self.process = subprocess.Popen(
            [*words, *peer.target.options], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def repeat(self) -> tuple[int, int]:
        """Begin a repetition; return its process, and that of its agent, each as seen there."""
        self._say(b"r")
        repetition, agent = self.hear().split()
        return int(repetition), int(agent)

    def end_repetition(self) -> None:
        self._say(b".")
        assert self.hear() == "over"

    def hear(self) -> str:
        assert self.process.stdout is not None
        assert select.select([self.process.stdout], [], [], LONG_S)[0]
        return self.process.stdout.readline().decode().strip()

    def _say(self, word: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(word)
        self.process.stdin.flush()

    def here(self) -> dict[int, str]:
        """Return what it has running on this side: whatever is in this network, but for us."""
        network = Path("/proc/thread-self/ns/net").readlink()
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (path / "ns/net").readlink() == network and int(path.name) != os.getpid():
                    words = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found[int(path.name)] = words
        return found

    def pid_of(self, mark: str) -> int:
        (pid,) = (pid for pid, words in self.here().items() if mark in words)
        return pid

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(LONG_S)
        self.process.stdout.close()


@pytest.fixture
def small_run(peer: Peer) -> Iterator[SmallRun]:
    run = SmallRun(peer)
    until(lambda: list(run.here()) == [run.process.pid], LONG_S)
    yield run
    run.close()
    until(lambda: peer.processes() == [] and run.here() == {}, SOON_S)


def test_a_repetition_or_a_run_that_ends_or_is_killed_leaves_nothing(
    peer: Peer, small_run: SmallRun
) -> None:
    small_run.repeat()
    assert peer.programs() == ["/bin/sleep 60"]
    small_run.end_repetition()
    until(lambda: peer.processes() == [], SOON_S)
    repetition, _ = small_run.repeat()
    os.kill(repetition, signal.SIGKILL)
    until(lambda: peer.processes() == [], SOON_S)
    small_run.repeat()
    small_run.process.kill()
    until(lambda: peer.processes() == [] and not small_run.here(), SOON_S)


@pytest.mark.parametrize("what", ["ssh -T", "[mux]", "sshd there", "agent there", "link"])
def test_a_connection_that_breaks_is_noticed_and_leaves_nothing(
    peer: Peer, small_run: SmallRun, what: str
) -> None:
    agent = small_run.repeat()[1]
    assert peer.sessions()
    match what:
        case "sshd there":
            peer.run_inside("pkill", "-KILL", "^sshd")  # but not the first process there
        case "agent there":
            peer.run_inside("kill", "-KILL", str(agent))
        case "link":
            peer.here.run(["ip", "link", "set", "sender", "down"])
        case _:
            os.kill(small_run.pid_of(what), signal.SIGKILL)
    began_s = time.monotonic()
    until(lambda: peer.processes() == [], SOON_S)
    assert small_run.hear() == "lost"
    assert time.monotonic() - began_s < SOON_S + 1.0
    if what == "link":
        until(lambda: peer.sessions() == [], SOON_S)
        peer.here.run(["ip", "link", "set", "sender", "up"])
    assert small_run.repeat()[1] != agent
    small_run.end_repetition()


@pytest.mark.parametrize(
    ("option", "said", "remedy"),
    [
        ("{folder}/key", "Permission denied", "ssh-copy-id"),
        ("UserKnownHostsFile={folder}/known_hosts", "Host key verification failed", "once by hand"),
    ],
)
def test_a_key_that_one_side_does_not_know_is_a_sentence_with_a_remedy(
    peer: Peer, tmp_path: Path, option: str, said: str, remedy: str
) -> None:
    new_keys(tmp_path, "key")
    known, other = (option.format(folder=folder) for folder in (peer.folder, tmp_path))
    options = tuple(other if one == known else one for one in peer.target.options)
    assert options != peer.target.options
    with pytest.raises(AttemptFailed, match=said) as caught:
        SshHost(SshTarget(peer.target.name, options))
    assert "cannot be reached by ssh" in caught.value.reason
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("python", "expected"),
    [(None, "has no python3"), ("#!/bin/sh\nexit 91\n", "has an older python3 only")],
)
def test_a_machine_without_a_python_that_will_do(
    peer: Peer, monkeypatch: pytest.MonkeyPatch, python: str | None, expected: str
) -> None:
    folder = peer.folder / "bin"
    if python is not None:
        add_program(folder / "python3", python)
    with SshHost(peer.target):
        pass  # the agent is there
    usual = ssh_host._START
    monkeypatch.setattr(ssh_host, "_START", f"PATH={folder}; {usual}")
    with pytest.raises(Unavailable, match=expected) as caught:
        SshHost(peer.target)
    assert "3.11" in caught.value.remedy
    # and one that is broken
    monkeypatch.setattr(ssh_host, "_START", usual.replace("$p -I", "PYTHONHOME=/nowhere $p"))
    with pytest.raises(AttemptFailed, match="No module named 'encodings'") as caught:
        SshHost(peer.target)
    assert "python3 -I -c pass" in caught.value.remedy


@pytest.mark.parametrize(
    ("options", "said", "remedy"),
    [("size=4k", "No space left on device", "make room"), ("ro", "Read-only", "writable")],
)
def test_a_cache_there_that_takes_nothing_is_named_with_its_cause(
    peer: Peer, options: str, said: str, remedy: str
) -> None:
    with peer.cache_on(options), pytest.raises(AttemptFailed, match=said) as caught:
        SshHost(peer.target)
    assert remedy in caught.value.remedy


@pytest.mark.parametrize("name", ["-oProxyCommand=id", "", "a b", "user@-x", "a;b"])
def test_what_is_no_target_is_refused_before_ssh_sees_it(name: str) -> None:
    with pytest.raises(ConfigError, match="expected user@other"):
        SshTarget(name)
