"""Runs the C programs as the orchestrator does: the control protocol, in small, for tests."""

import contextlib
import json
import os
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, TypedDict, Unpack

from copycost.config.strategy_capabilities import capability_of

TOKEN = "0123456789abcdef"
LIMIT_S = 20.0  # the longest that a test waits for anything
# What must not wait for a window of 30 s to end has ended by then, on a busy host too [s].
SOON_S = 15.0


@dataclass(slots=True)
class Program:
    """A running program and our end of its control socket."""

    process: subprocess.Popen[str]
    control: socket.socket
    received: str = ""

    def read_line(self) -> str:
        """Return the next control line; '' when the program has closed its end."""
        while "\n" not in self.received:
            chunk = self.control.recv(4096).decode()
            if not chunk:
                return ""
            self.received += chunk
        line, self.received = self.received.split("\n", 1)
        return line

    def say(self, line: str) -> None:
        """Send one control line."""
        self.control.sendall(f"{line}\n".encode())

    def finish(self) -> "Outcome":
        """Wait for the program's end and return what it left."""
        stdout, stderr = self.process.communicate(timeout=LIMIT_S)
        return Outcome(self.process.returncode, stdout, stderr)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program left behind."""

    code: int
    stdout: str
    stderr: str

    @property
    def result(self) -> dict[str, Any]:
        """The one JSON object on stdout."""
        parsed: dict[str, Any] = json.loads(self.stdout)
        return parsed


def run(command: Sequence[str | Path], **options: Any) -> Outcome:  # noqa: ANN401
    """Run a program that nobody controls to its end."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=LIMIT_S, **options
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True, slots=True)
class Setting:
    """How to run a pair of programs."""

    msg_bytes: int = 65536
    n_threads: int = 1
    warmup_s: float = 0.02
    duration_s: float = 0.1
    io_timeout_ms: int = 10000
    verify: bool = False
    address: str | None = "127.0.0.1"  # None: a sender that does not listen
    sender_options: Sequence[str] = field(default=())
    receiver_options: Sequence[str] = field(default=())

    def common(self) -> list[str]:
        """Return the options that both sides are given."""
        return [
            *("--threads", str(self.n_threads)),
            *("--msg-bytes", str(self.msg_bytes)),
            *("--congestion", "cubic,reno"),
            *("--io-timeout-ms", str(self.io_timeout_ms)),
            *(["--verify"] if self.verify else []),
        ]


class How(TypedDict, total=False):
    """What may differ from a plain start of a program."""

    wrapper: Sequence[str]  # a command that runs it, such as perf stat
    pass_fds: Sequence[int]
    first_line: str  # of the control line
    stdout: IO[str]
    preexec_fn: Callable[[], None]


@contextlib.contextmanager
def start(command: Sequence[str | Path], **how: Unpack[How]) -> Iterator[Program]:
    """Run a program with a control socket; it is killed if the caller leaves without finish()."""
    ours, theirs = socket.socketpair()
    ours.settimeout(LIMIT_S)
    ours.sendall(how.get("first_line", f"token {TOKEN}\n").encode())
    process = subprocess.Popen(
        [*how.get("wrapper", ()), *map(str, command), "--control-fd", str(theirs.fileno())],
        pass_fds=(theirs.fileno(), *how.get("pass_fds", ())),
        preexec_fn=how.get("preexec_fn"),
        stdout=how.get("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
    )
    theirs.close()
    try:
        yield Program(process, ours)
    finally:
        ours.close()
        if process.poll() is None:
            process.kill()
        process.communicate()


Started = contextlib.AbstractContextManager[Program]


def start_sender(program: Path, setting: Setting, **how: Unpack[How]) -> Started:
    """Run a sender; see start()."""
    place = [] if setting.address is None else ["--bind", setting.address]
    return start([program, *setting.common(), *place, *setting.sender_options], **how)


def start_receiver(program: Path, setting: Setting, port: int, **how: Unpack[How]) -> Started:
    """Run a receiver; see start()."""
    place = ["--connect", str(setting.address), "--port", str(port)]
    return start([program, *setting.common(), *place, *setting.receiver_options], **how)


def listening_port(sender: Program) -> int:
    """Return the port of the `listening` line."""
    word, port = sender.read_line().split()
    assert word == "listening"
    return int(port)


def window_line(setting: Setting) -> str:
    """Return a `window` line that begins after the warm-up."""
    start_ns = time.monotonic_ns() + int(setting.warmup_s * 1e9)
    return f"window {start_ns} {start_ns + int(setting.duration_s * 1e9)}"


@contextlib.contextmanager
def ready_pair(
    sender_program: Path,
    receiver_program: Path,
    setting: Setting,
    receiver_wrapper: Callable[[Program], Sequence[str]] = lambda sender: (),  # a command before it
    **how: Unpack[How],
) -> Iterator[tuple[Program, Program]]:
    """Start both sides and wait until they are ready."""
    with start_sender(sender_program, setting, **how) as sender:
        port = listening_port(sender)
        wrapper = receiver_wrapper(sender)
        with start_receiver(receiver_program, setting, port, wrapper=wrapper) as receiver:
            assert sender.read_line() == receiver.read_line() == "ready"
            yield sender, receiver


def inside_network_of(sender: Program) -> list[str]:
    """Return what runs a command in a sender's network namespace."""
    return ["nsenter", f"--net=/proc/{sender.process.pid}/ns/net"]


def begin_window(setting: Setting, *programs: Program) -> None:
    """Tell programs one window."""
    line = window_line(setting)
    for program in programs:
        program.say(line)


@contextlib.contextmanager
def greeted(
    sender_program: Path, setting: Setting, **how: Unpack[How]
) -> Iterator[tuple[Program, socket.socket]]:
    """Start a sender, to which the test itself connects as the receiver, by the connection."""
    with (
        start_sender(sender_program, setting, **how) as sender,
        connect(listening_port(sender), greeting()) as peer,
    ):
        yield sender, peer


@contextlib.contextmanager
def sending(
    sender_program: Path, setting: Setting, **how: Unpack[How]
) -> Iterator[tuple[Program, socket.socket]]:
    """Start a sender, in whose window the test itself is the receiver, by the connection."""
    with greeted(sender_program, setting, **how) as (sender, peer):
        assert sender.read_line() == "ready"
        begin_window(setting, sender)
        yield sender, peer


@contextlib.contextmanager
def receiving(program: Path, setting: Setting) -> Iterator[tuple[Program, socket.socket]]:
    """Start a receiver, in whose window the test itself is the sender, by the connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(LIMIT_S)
        with start_receiver(program, setting, listener.getsockname()[1]) as receiver:
            peer, _ = listener.accept()
            peer.settimeout(LIMIT_S)
            with peer:
                assert peer.recv(len(greeting()), socket.MSG_WAITALL) == greeting()
                assert receiver.read_line() == "ready"
                begin_window(setting, receiver)
                yield receiver, peer


def reset(peer: socket.socket) -> None:
    """Close with a reset instead of a goodbye."""
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


def run_pair(
    sender_program: Path, receiver_program: Path, setting: Setting, **how: Unpack[How]
) -> tuple[Outcome, Outcome]:
    """Run one measurement and return the outcomes of sender and receiver.

    A busy machine may let all of a short window pass before it runs the sending threads. Where
    nothing was sent the measurement is made once more, with a second more for it.
    """
    sender, receiver = _run_once(sender_program, receiver_program, setting, how)
    if (sender.code, receiver.code) == (0, 0) and sender.result["total"]["messages"] == 0:
        longer = replace(setting, duration_s=setting.duration_s + 1)
        return _run_once(sender_program, receiver_program, longer, how)
    return sender, receiver


def _run_once(
    sender_program: Path, receiver_program: Path, setting: Setting, how: How
) -> tuple[Outcome, Outcome]:
    with ready_pair(sender_program, receiver_program, setting, **how) as (sender, receiver):
        begin_window(setting, sender, receiver)
        return sender.finish(), receiver.finish()


def results(
    sender_program: Path, receiver_program: Path, setting: Setting, **how: Unpack[How]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run one measurement whose counts agree and return the results of sender and receiver."""
    return agreed(*run_pair(sender_program, receiver_program, setting, **how), setting)


def agreed(
    sender: Outcome, receiver: Outcome, setting: Setting
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Check what two programs count, and return their results."""
    assert (sender.code, receiver.code) == (0, 0), sender.stderr + receiver.stderr
    sent, received = sender.result["total"], receiver.result["total"]
    if sender.result["strategy"] != "null":
        assert sent["bytes"] == sent["messages"] * setting.msg_bytes > 0
    if "datagram" in setting.sender_options:
        assert (sent["datagrams"], sent["short_writes"]) == (sent["messages"], 0)
        assert 0 < received["datagrams"] <= sent["datagrams"]
        assert received["bytes"] == received["datagrams"] * setting.msg_bytes
    else:
        assert received["bytes"] == sent["bytes"]
    assert 0 <= received["mapped_bytes"] <= received["bytes"]
    if setting.verify:
        assert receiver.result["verify"]["checked_bytes"] == received["bytes"]
    counts = sender.result["zero_copy"]
    assert (counts is not None) == capability_of(sender.result["strategy"]).zero_copy
    if counts is not None:
        assert counts["sent"] == counts["completed"] > 0
        joined = sender.result["strategy"] == "zero_copy"  # a notification may be of several sends
        assert counts["notifications"] == counts["completed"] or joined
        assert counts["copied"] is None or counts["copied"] <= counts["completed"]
    return sender.result, receiver.result


def over_udp(setting: Setting) -> Setting:
    """Return the same setting over UDP."""
    over = ("--transport", "datagram")
    return replace(
        setting,
        sender_options=(*over, *setting.sender_options),
        receiver_options=(*over, *setting.receiver_options),
    )


@contextlib.contextmanager
def sinking(program: Path, setting: Setting, **how: Unpack[How]) -> Iterator[Program]:
    """Start a sender that nobody receives from, in its window."""
    with start_sender(program, setting, **how) as sender:
        assert listening_port(sender) == 0
        assert sender.read_line() == "ready"
        begin_window(setting, sender)
        yield sender


@contextlib.contextmanager
def as_perf(answers: bytes) -> Iterator[tuple[list[str], tuple[int, int], int]]:
    """Answer like perf; yield a program's options, its two ends, and what its commands come to."""
    control_read, control_write = os.pipe()
    ack_read, ack_write = os.pipe()
    # perf would answer command by command; a pipe holds all answers
    os.write(ack_write, answers)
    options = ["--perf-fds", f"{control_write},{ack_read}"]
    yield options, (control_write, ack_read), control_read
    for fd in (control_read, control_write, ack_read, ack_write):
        os.close(fd)


def greeting(token: str = TOKEN, index: int = 0, magic: bytes = b"COPYCOST") -> bytes:
    """Return the first bytes of a receiver's connection."""
    return magic + struct.pack("!II", 1, index) + token.encode()


def connect(port: int, said: bytes) -> socket.socket:
    """Connect to a sender and say something."""
    peer = socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S)
    peer.sendall(said)
    return peer


def assert_failed(outcome: Outcome, *words: str) -> None:
    """Check that a program reported one failure, with these words in it, and no result."""
    assert outcome.code == 1, outcome.stderr
    assert outcome.stdout == ""
    lines = outcome.stderr.splitlines()
    assert lines[-1].startswith(("sender: ", "receiver: "))
    for word in words:
        assert word in lines[-1]
