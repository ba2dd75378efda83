"""What can go wrong between us and an agent, and that nothing is left then."""

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import zipfile
from contextlib import suppress
from functools import partial
from io import BytesIO
from pathlib import Path

import pytest
from programs import add_program, alive, until
from unit.hosts.places import PATIENCE_S, agent_process, remote_host, running

from copycost.errors import HostError, MeasurementStopped, Unavailable
from copycost.hosts.lock import measurement_lock
from copycost.hosts.program import Launch
from copycost.hosts.remote import messages
from copycost.hosts.remote.bundle import agent_bundle, agent_modules
from copycost.hosts.remote.connection import ConnectionLost
from copycost.hosts.remote.host import RemoteHost
from copycost.hosts.ssh import client
from copycost.hosts.ssh.client import SshTarget

SLEEP = Launch(("/bin/sleep", "60"), "/bin/sleep")
# two processes, of which the agent is the father of the first only
WRAPPED = Launch(("/bin/sh", "-c", "sleep 60 & sleep 60 & wait"), "/bin/sh")


def children_of(pid: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in found.stdout.split()]


def answering(*lines: bytes) -> tuple[int, threading.Thread]:
    """Return our end of a stream on which somebody answers the first line by others."""
    ours, theirs = socket.socketpair()

    def talk() -> None:
        with theirs, theirs.makefile("rb") as asked:
            opening = b""
            while b'"op"' not in opening:
                opening = asked.readline()
            number = messages.message_of(opening)["id"]
            theirs.sendall(b"".join(line.replace(b"NUMBER", b"%d" % number) for line in lines))

    thread = threading.Thread(target=talk)
    thread.start()
    return ours.detach(), thread


@pytest.mark.parametrize("how", ["end of its stream", "SIGTERM"])
def test_an_agent_ends_all_that_it_started(tmp_path: Path, how: str) -> None:
    with agent_process(tmp_path) as (agent, stream):
        host = RemoteHost(stream, "it", PATIENCE_S)
        program = host.start(WRAPPED)
        until(lambda: len(children_of(program.pid)) == 2)
        pids = [program.pid, *children_of(program.pid)]
        if how == "SIGTERM":
            agent.terminate()
        else:
            with socket.socket(fileno=os.dup(stream)) as line:
                line.shutdown(socket.SHUT_WR)
        assert agent.wait(PATIENCE_S) == 0
        until(lambda: not any(map(alive, pids)))
        host.close()
        program.close()


def test_an_agent_that_is_busy_ends_all_the_same(tmp_path: Path) -> None:
    with agent_process(tmp_path) as (agent, stream):
        host = RemoteHost(stream, "it", PATIENCE_S)
        program = host.start(SLEEP)

        def wait_in_vain() -> None:
            with suppress(ConnectionLost):
                host.run(["sleep", "50"])

        busy = threading.Thread(target=wait_in_vain)
        busy.start()
        until(lambda: len(children_of(agent.pid)) == 2)
        pids = children_of(agent.pid)
        with socket.socket(fileno=os.dup(stream)) as line:
            line.shutdown(socket.SHUT_RDWR)
        assert agent.wait(PATIENCE_S) == -signal.SIGKILL
        until(lambda: not any(map(alive, pids)))
        busy.join()
        host.close()
        program.close()


def test_an_agent_that_is_killed_is_noticed_and_leaves_nothing(tmp_path: Path) -> None:
    with agent_process(tmp_path) as (agent, stream), RemoteHost(stream, "it") as host:
        program = host.start(SLEEP)
        agent.kill()
        assert select.select([program.ended_fd], [], [], PATIENCE_S)[0]
        assert host._connection.lost is not None
        start = partial(host.start, SLEEP)
        for ask in (lambda: program.exit_code, program.output, host.resync, start):
            with pytest.raises(ConnectionLost, match=r"^the connection to it .*; see that it runs"):
                ask()
        program.signal(signal.SIGTERM)
        program.say("nobody hears it")
        program.end()
        program.close()
        until(lambda: not alive(program.pid))


def test_the_next_session_on_a_stream_begins_clean(tmp_path: Path) -> None:
    with agent_process(tmp_path) as (_, stream):
        # a run that was killed in the midst of a line, and has not heard all answers
        with socket.socket(fileno=os.dup(stream)) as line:
            start = messages.request("hold", number=1, what="start", fields={"launch": WRAPPED})
            for message in ({"id": 1, **messages.request("open")}, {"id": 2, **start}):
                line.sendall(messages.as_line(message))
            line.sendall(b'{"op":"run","id":3,"with":{"words":["/bin/tr')
        with RemoteHost(os.dup(stream), "it", PATIENCE_S) as host:
            assert host.run(["echo", "clean"]).stdout == "clean\n"
            assert host.run(["pgrep", "-P", str(os.getpid()), "-x", "sh"]).stdout == ""
            lost = host.start(SLEEP)
        # one whose daemon noticed its end
        with socket.socket(fileno=os.dup(stream)) as line:
            line.sendall(b'{"op":' + messages.end_line())
        with RemoteHost(stream, "it", PATIENCE_S) as host:
            assert host.run(["echo", "again"]).stdout == "again\n"
        assert not alive(lost.pid)
        lost.close()


INTRODUCTION = b'{"id":NUMBER,"result":{"about":null}}\n'


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([b"sh: python3: not found\n"], r"the connection to it ended; see that it"),
        # a peer that has not read all that we said resets the connection
        ([INTRODUCTION, b'{"id":1,"resul'], r"the connection to it (ended|broke \(Conn)"),
        ([INTRODUCTION, b"\xff\x00 garbage\n"], r"brings no message but b'\\xff\\x00 garbage'"),
        ([INTRODUCTION, b"[" * 5000 + b"\n"], r"brings no message but b'\[\[\["),
    ],
    ids=["no agent", "cut within a message", "garbage", "brackets"],
)
def test_what_is_wrong_with_a_stream_is_told(lines: list[bytes], told: str) -> None:
    stream, thread = answering(*lines)
    with pytest.raises(ConnectionLost, match=told):
        RemoteHost(stream, "it", PATIENCE_S)
    thread.join()


def test_a_peer_that_stops_reading_is_noticed(tmp_path: Path) -> None:
    program = tmp_path / "large"
    program.write_bytes(os.urandom(1 << 20))
    with agent_process(tmp_path) as (agent, stream), socket.socket(fileno=stream):
        RemoteHost(os.dup(stream), "it", PATIENCE_S).close()  # it has started now
        host = RemoteHost(os.dup(stream), "it", 1.0)
        agent.send_signal(signal.SIGSTOP)
        with pytest.raises(ConnectionLost, match="did not answer within 1 s"):
            host.path_of(program)
        with pytest.raises(ConnectionLost):
            host.run(["true"])
        host.close()


def test_a_program_is_brought_once_and_whole(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("#!/bin/sh\necho first\n")
    with remote_host(tmp_path) as host:
        first = host.path_of(own)
        stamp = Path(first).stat().st_mtime_ns
    own.write_text("#!/bin/sh\necho second\n")
    with remote_host(tmp_path) as host:
        second = host.path_of(own)
        assert [host.run([path]).stdout for path in (first, second)] == ["first\n", "second\n"]
        own.write_text("#!/bin/sh\necho first\n")
        assert host.path_of(own) == first
        assert Path(first).stat().st_mtime_ns == stamp


def test_a_program_for_a_newer_c_library_is_not_brought(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_bytes(b"\x7fELF GLIBC_2.4\x00GLIBC_9.99\x00GLIBC_2.34\x00")
    with remote_host(tmp_path) as host, pytest.raises(Unavailable) as caught:
        host.path_of(own)
    assert "own was built here for glibc 9.99 or newer" in caught.value.reason
    assert not (tmp_path / "programs").exists()


def test_who_waits_for_a_lock_there_hears_that_nobody_waits_for_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with running("true") as parent, measurement_lock(path), agent_process(tmp_path) as it:
        agent, stream = it
        host = RemoteHost(stream, "it", PATIENCE_S)
        with pytest.raises(MeasurementStopped), host.lock(path, [parent.ended_fd]):
            pass
        host.close()
        assert agent.wait(PATIENCE_S) == 0


def test_what_an_agent_does_not_know_is_told(tmp_path: Path) -> None:
    refused = pytest.raises(HostError, match="knows no request 'nonsense'")
    with remote_host(tmp_path) as host, refused:
        host._connection.ask("nonsense")


def test_a_folder_that_is_no_place_for_a_socket_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "open/copycost-ssh").mkdir(0o755, parents=True)
    for folder, said in (
        ("/proc/nowhere", "/copycost-ssh cannot be made .*; set XDG_RUNTIME_DIR"),
        (str(tmp_path / "open"), "/copycost-ssh: others may write there; delete it"),
        (str(tmp_path / ("long" * 20)), "too long a path for a socket; set XDG_RUNTIME_DIR"),
    ):
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        with pytest.raises(HostError, match=said):
            SshTarget("user@other").control_path()


def test_a_shared_connection_that_hangs_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_program(tmp_path / "ssh", "#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(client, "_END_TIMEOUT_S", 0.1)
    SshTarget("user@other").close()


def test_the_bundle_needs_the_standard_library_alone() -> None:
    bundle = agent_bundle()
    assert bundle == agent_bundle()  # by its bytes, a machine knows that it has it already
    inside = zipfile.ZipFile(BytesIO(bundle)).namelist()
    assert "copycost/hosts/local.py" in inside
    assert "copycost/hosts/remote/host.py" not in inside
    # isolated, and without the environment's packages
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import copycost.hosts.remote.agent;"
        "print(*{name.split('.')[0] for name in sys.modules} - sys.stdlib_module_names)"
    )
    workflow = Path(next(iter(agent_modules().values()))).parents[1]
    found = subprocess.check_output([sys.executable, "-I", "-S", "-c", code, workflow], text=True)
    assert set(found.split()) <= {"__main__", "copycost"}
