"""What an agent does for one session: a method for each request, and news that come by themselves.

It runs in the agent's main thread, apart from `kill`.
"""

import hashlib
import heapq
import os
import select
import signal
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

from copycost.errors import CopycostError, HostError
from copycost.hosts.cgroups import CpuGroup
from copycost.hosts.local import LocalHost, LocalReader
from copycost.hosts.program import LocalProgram
from copycost.hosts.remote import messages
from copycost.hosts.remote.messages import Message

# goes with the news that its program has ended; what is larger is sent when it is asked for
_LARGEST_NEWS_BYTES = 1 << 16
# poll(2) counts whole milliseconds: the last one before a planned moment is slept through
_POLL_GRAIN_NS = 1_000_000
_CONSTANTS = ("SC_PAGE_SIZE", "SC_CLK_TCK", "SC_NPROCESSORS_ONLN")


class Line:
    """The way back: messages of both threads, each in one piece."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.Lock()

    def send(self, message: Message) -> None:
        """Send a message; that nobody is there any more is noticed where we read."""
        rest = memoryview(messages.as_line(message))
        with self._lock, suppress(OSError):
            while rest:
                rest = rest[os.write(self._fd, rest) :]


def introduction(host: LocalHost) -> Message:
    """Return what everybody wants to know of a host, said when a session is opened."""
    return {
        "protocol": messages.PROTOCOL,
        "constants": {name: host.constant(name) for name in _CONSTANTS},
        "usable_cpus": sorted(host.usable_cpus()),
        "about": asdict(host.about),
    }


@dataclass(frozen=True, slots=True)
class _Group:
    """A control group, and what takes it away."""

    group: CpuGroup
    stack: ExitStack


@dataclass(frozen=True, slots=True)
class _Stream:
    """A command whose output is sent while it runs, and what ends it."""

    output: IO[bytes]
    stack: ExitStack


class Service:
    """What one session asked for, until it is over.

    Parameters
    ----------
    host
        What is served.
    line
        The way back.
    programs
        Folder of programs that are brought here.
    bell
        Becomes readable when a request has come in, or the stream has ended.
    """

    def __init__(self, host: LocalHost, line: Line, programs: Path, bell: int) -> None:
        self._host = host
        self._line = line
        self._folder = programs
        self._bell = bell
        self._programs: dict[int, LocalProgram] = {}
        self._running: dict[int, int] = {}  # by descriptor, as the next
        self._talking: dict[int, int] = {}
        self._readers: dict[int, LocalReader] = {}
        self._groups: dict[int, _Group] = {}
        self._streams: dict[int, _Stream] = {}
        self._locks: dict[int, ExitStack] = {}
        self._due: list[tuple[int, int, int]] = []  # a heap: when [ns], see `_do_plan`, place
        self._plans: dict[int, list[Message]] = {}
        self._done: dict[int, dict[int, Message]] = {}

    def do(self, message: Message) -> Any:  # noqa: ANN401 - JSON
        """Do what a request asks, and return the answer.

        Raises
        ------
        CopycostError, OSError, ValueError, LookupError
            Whatever the request ran into.
        """
        asked: Callable[[Message], Any] | None = getattr(self, f"_do_{message['op']}", None)
        if asked is None:
            raise HostError(f"the agent knows no request {message['op']!r}; send it anew")
        return asked(message)

    # -- news -------------------------------------------------------------------------------------

    def wait_for_news(self) -> None:
        """Wait for a request; tell meanwhile what programs say, and do what was planned."""
        while True:
            poll = select.poll()
            outputs = {one.output.fileno(): number for number, one in self._streams.items()}
            for fd in (self._bell, *self._talking, *self._running, *outputs):
                poll.register(fd, select.POLLIN | select.POLLRDHUP)
            events = dict(poll.poll(self._left_ms()))
            ready = set(events)
            for fd in ready & set(self._talking):  # before the news that a program has ended
                if not self._tell_lines(fd) and events[fd] & (select.POLLHUP | select.POLLRDHUP):
                    del self._talking[fd]
            for fd in ready & set(self._running):
                self._tell_end(fd)
            for fd in ready & set(outputs):
                self._tell_output(outputs[fd])
            self._do_what_is_due()
            if self._bell in ready:
                return

    def _left_ms(self) -> int | None:
        if not self._due:
            return None
        left_ns = self._due[0][0] - self._host.clock_ns() - _POLL_GRAIN_NS
        return max(0, left_ns) // _POLL_GRAIN_NS

    def _do_what_is_due(self) -> None:
        while self._due and self._due[0][0] <= self._host.clock_ns() + _POLL_GRAIN_NS:
            self._do_next()

    def _do_next(self) -> None:
        """Do what is planned next, at its time."""
        at_ns, order, place = heapq.heappop(self._due)
        plan = abs(order)
        time.sleep(max(0, at_ns - self._host.clock_ns()) / 1e9)
        answer: Message
        try:
            answer = {"result": self.do(self._plans[plan][place])}
        except (CopycostError, OSError, ValueError, LookupError) as error:
            answer = {"error": messages.error_as_message(error)}
        self._done[plan][place] = answer

    def _tell_lines(self, fd: int) -> bool:
        """Tell what a program has said; return whether there was a whole line."""
        number = self._talking[fd]
        program = self._programs[number]
        lines = []
        while (line := program.read_line()) is not None:
            lines.append(line)
        if lines:
            self._line.send({"event": "lines", "program": number, "lines": lines})
        return bool(lines)

    def _tell_end(self, fd: int) -> None:
        number = self._running.pop(fd)
        program = self._programs[number]
        if program.control_fd in self._talking:
            while self._tell_lines(program.control_fd):
                pass
            del self._talking[program.control_fd]
        code = _exit_code(program)
        self._line.send({"event": "ended", "program": number, "code": code, **_left_by(program)})

    def _tell_output(self, number: int) -> None:
        stream = self._streams[number]
        data = os.read(stream.output.fileno(), messages.CHUNK_BYTES)
        if data:
            text = messages.as_text(data)
            self._line.send({"event": "output", "stream": number, "data": text})
            return
        over: Message = {"event": "over", "stream": number, "error": None}
        del self._streams[number]
        try:
            stream.stack.close()
        except HostError as error:
            over["error"] = messages.error_as_message(error)
        self._line.send(over)

    # -- what there is on the host ----------------------------------------------------------------

    def _do_text(self, message: Message) -> str | None:
        return self._host.files.text(message["path"])

    def _do_texts(self, message: Message) -> dict[str, str | None]:
        files = self._host.files
        found = (path for pattern in message["patterns"] for path in files.glob(pattern))
        return {str(path): files.text(str(path)) for path in found}

    def _do_lines(self, message: Message) -> list[str]:
        return self._host.files.lines(message["path"], message["n_most"])

    def _do_gzipped_text(self, message: Message) -> str | None:
        return self._host.files.gzipped_text(message["path"])

    def _do_glob(self, message: Message) -> list[str]:
        return [str(path) for path in self._host.files.glob(message["pattern"])]

    def _do_constant(self, message: Message) -> int:
        return self._host.constant(message["name"])

    def _do_usable_cpus(self, _: Message) -> list[int]:
        return sorted(self._host.usable_cpus())

    def _do_find_tool(self, message: Message) -> str | None:
        return self._host.find_tool(message["name"])

    def _do_free_ports(self, message: Message) -> list[int]:
        ports = message["ports"]
        wanted = None if ports is None else (ports[0], ports[1])
        return self._host.free_ports(message["address"], message["n"], wanted)

    def _do_allows_congestion_control(self, message: Message) -> bool:
        return self._host.allows_congestion_control(message["name"])

    def _do_usage(self, message: Message) -> Message:
        return messages.usage_as_message(self._host.usage(message["pids"]))

    def _do_usage_or_none(self, message: Message) -> Message | None:
        try:
            return self._do_usage(message)
        except OSError:
            return None

    def _do_written_bytes(self, message: Message) -> int | None:
        return self._host.written_bytes(message["pid"])

    def _do_signal(self, message: Message) -> None:
        self._host.signal(message["pids"], message["number"])

    def _do_prioritise(self, message: Message) -> None:
        self._host.prioritise(message["pids"])

    def _do_open_reader(self, message: Message) -> None:
        self._readers[message["reader"]] = self._host.reader(message["paths"])

    def _do_read(self, message: Message) -> tuple[int, dict[str, str]]:
        return self._readers[message["reader"]].read()

    def _do_close_reader(self, message: Message) -> None:
        self._readers.pop(message["reader"]).close()

    # -- programs ---------------------------------------------------------------------------------

    def _do_has(self, message: Message) -> str | None:
        path = self._path_of(message)
        return str(path) if path.exists() else None

    def _do_bring(self, message: Message) -> str:
        """Keep a program that was brought here; it appears whole or not at all."""
        data, path = messages.bytes_of(message["data"]), self._path_of(message)
        if hashlib.sha256(data).hexdigest() != message["digest"]:
            raise HostError(f"{message['name']}: came to {path} damaged; run again")
        half = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            half.write_bytes(data)
            half.chmod(0o755)
            half.replace(path)
        except OSError:
            with suppress(OSError):
                half.unlink()
            raise
        return str(path)

    def _path_of(self, message: Message) -> Path:
        digest, name = str(message["digest"]), str(message["name"])
        return self._folder.absolute() / digest[:16] / Path(name).name

    def _do_start(self, message: Message) -> Message:
        # should we be killed, nobody else would end it
        launch = replace(messages.launch_of(message["launch"]), dies_with_us=True)
        program = self._host.start(launch)
        number = message["program"]
        self._programs[number] = program
        self._running[program.ended_fd] = number
        if launch.control:
            self._talking[program.control_fd] = number
        paths = {name: program.file_path(name) for name in launch.files}
        return {"pid": program.pid, "paths": paths}

    def _program(self, message: Message) -> LocalProgram:
        return self._programs[message["program"]]

    def _do_say(self, message: Message) -> None:
        self._program(message).say(message["line"])

    def _do_hang_up(self, message: Message) -> None:
        program = self._program(message)
        self._talking.pop(program.control_fd, None)
        program.hang_up()

    def _do_texts_of(self, message: Message) -> dict[str, str]:
        program = self._program(message)
        return {"stdout": program.output(), "stderr": program.errors()}

    def _do_file(self, message: Message) -> str:
        return self._program(message).file(message["name"])

    def _do_write_pipe(self, message: Message) -> None:
        self._program(message).write_pipe(message["name"], messages.bytes_of(message["data"]))

    def _do_read_pipe(self, message: Message) -> str | None:
        data = self._program(message).read_pipe(message["name"], message["timeout_s"])
        return None if data is None else messages.as_text(data)

    def _do_ask(self, message: Message) -> str | None:
        data = messages.bytes_of(message["data"])
        pipes = message["asked"], message["answers"]
        answer = self._program(message).ask(*pipes, data, message["timeout_s"])
        return None if answer is None else messages.as_text(answer)

    def _do_child_pid(self, message: Message) -> int:
        return self._program(message).child_pid()

    def _do_signal_program(self, message: Message) -> None:
        program = self._program(message)
        if _exit_code(program) is None:
            program.signal(message["number"])

    def _do_end_program(self, message: Message) -> Message:
        program = self._program(message)
        self._talking.pop(program.control_fd, None)
        self._running.pop(program.ended_fd, None)
        program.end(message["grace_s"])
        return {"code": program.exit_code, "killed": program.killed, **_left_by(program)}

    def _do_close_program(self, message: Message) -> None:
        """Forget a program; one that still runs goes on, and is ended with the session."""
        program = self._program(message)
        if program.exit_code is not None:
            del self._programs[message["program"]]
            program.close()

    # -- commands, groups, locks, plans -----------------------------------------------------------

    def _do_run(self, message: Message) -> Message:
        done = self._host.run(message["words"], message["text"], timeout_s=message["timeout_s"])
        return {"returncode": done.returncode, "stdout": done.stdout, "stderr": done.stderr}

    def _do_stream(self, message: Message) -> None:
        stack = ExitStack()
        output = stack.enter_context(self._host.stream(message["words"]))
        self._streams[message["stream"]] = _Stream(output, stack)

    def _do_stop_stream(self, message: Message) -> None:
        stream = self._streams.pop(message["stream"], None)
        if stream is not None:
            _abandon(stream.stack)

    def _do_open_group(self, message: Message) -> Message:
        stack = ExitStack()
        group = stack.enter_context(self._host.cpu_group(message["limit_percent"]))
        self._groups[message["group"]] = _Group(group, stack)
        return {"version": group.version, "path": str(group.path)}

    def _do_add_to_group(self, message: Message) -> None:
        self._groups[message["group"]].group.add(message["pids"])

    def _do_release_group(self, message: Message) -> None:
        self._groups[message["group"]].group.release()

    def _do_throttling(self, message: Message) -> list[int]:
        found = self._groups[message["group"]].group.throttling()
        return [found.periods, found.throttled_periods, found.throttled_ns]

    def _do_close_group(self, message: Message) -> None:
        self._groups.pop(message["group"]).stack.close()

    def _do_lock(self, message: Message) -> float:
        path = None if message["path"] is None else Path(message["path"])
        stack = ExitStack()
        # whoever asked for it says nothing before it has it, unless to call it off
        held = stack.enter_context(self._host.lock(path, [self._bell]))
        self._locks[message["lock"]] = stack
        return held.wait_s

    def _do_unlock(self, message: Message) -> None:
        self._locks.pop(message["lock"]).close()

    def _do_plan(self, message: Message) -> None:
        """Take requests that are to be done at their times, in place of the plan's earlier ones."""
        plan = message["plan"]
        self._forget_plan(plan)
        self._plans[plan] = [request for _, request in message["requests"]]
        self._done[plan] = {}
        for place, (at_ns, _) in enumerate(message["requests"]):
            # what was planned first begins first and ends last
            order = -plan if place else plan
            heapq.heappush(self._due, (at_ns, order, place))

    def _do_planned(self, message: Message) -> list[Message]:
        """Return the answers to all requests of a plan, when the last of them is done."""
        plan = message["plan"]
        while len(self._done[plan]) < len(self._plans[plan]):
            self._do_next()
        return [self._done[plan][place] for place in range(len(self._plans[plan]))]

    def _do_forget_plan(self, message: Message) -> None:
        self._forget_plan(message["plan"])

    def _forget_plan(self, plan: int) -> None:
        self._plans.pop(plan, None)
        self._done.pop(plan, None)
        self._due = [one for one in self._due if abs(one[1]) != plan]
        heapq.heapify(self._due)

    # -- the end ----------------------------------------------------------------------------------

    def close(self) -> None:
        """End all that was started and give everything back."""
        for program in self._programs.values():
            program.hang_up()
        for program in self._programs.values():
            program.end()
            program.close()
        for stream in self._streams.values():
            _abandon(stream.stack)
        for held in (*(one.stack for one in self._groups.values()), *self._locks.values()):
            with suppress(CopycostError):  # nobody is there to hear of it
                held.close()
        for reader in self._readers.values():
            reader.close()

    def kill(self) -> None:
        """Kill all programs, while the main thread is busy with something else."""
        for program in list(self._programs.values()):
            if program.exit_code is None:
                with suppress(ProcessLookupError):
                    os.killpg(program.pid, signal.SIGKILL)


def _abandon(stack: ExitStack) -> None:
    """Leave a block as an error would: its command is killed."""
    error = HostError("nobody reads on")
    with suppress(HostError):
        stack.__exit__(HostError, error, None)


def _exit_code(program: LocalProgram) -> int | None:
    """Return a program's exit code, negative for a signal, and leave its process to be ended.

    As long as nobody has waited for it, its process group is its own, and may be killed with it.
    """
    if program.exit_code is not None:
        return program.exit_code
    found = os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
    if found is None:
        return None
    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def _left_by(program: LocalProgram) -> Message:
    """Return what a program has printed, and its small memory files."""
    files = {name: program.file_path(name) for name in program.launch.files}
    small = [
        name for name, path in files.items() if Path(path).stat().st_size <= _LARGEST_NEWS_BYTES
    ]
    return {
        "texts": {"stdout": program.output(), "stderr": program.errors()},
        "files": {name: program.file(name) for name in small},
    }
