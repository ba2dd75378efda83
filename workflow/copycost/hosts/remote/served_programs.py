"""Programs that an agent starts for a session: a method for each request, and news of them.

It runs in the agent's main thread, apart from `kill`.
"""

import hashlib
import os
import signal
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from copycost.errors import HostError
from copycost.hosts.local import LocalHost
from copycost.hosts.program import LocalProgram
from copycost.hosts.remote import messages
from copycost.hosts.remote.messages import Line, Message, Part

# goes with the news that its program has ended; what is larger is sent when it is asked for
_LARGEST_NEWS_BYTES = 1 << 16


class ServedPrograms(Part):
    """The programs of one session.

    Parameters
    ----------
    host
        What is served.
    line
        The way back.
    folder
        Of programs that are brought here.

    Attributes
    ----------
    running, talking
        Numbers of programs by the descriptors at which their ends and their lines show.
    """

    def __init__(self, host: LocalHost, line: Line, folder: Path) -> None:
        self._host = host
        self._line = line
        self._folder = folder
        self._programs: dict[int, LocalProgram] = {}
        self.running: dict[int, int] = {}
        self.talking: dict[int, int] = {}

    def tell_lines(self, fd: int) -> bool:
        """Tell what a program has said; return whether there was a whole line."""
        number = self.talking[fd]
        program = self._programs[number]
        lines = []
        while (line := program.read_line()) is not None:
            lines.append(line)
        if lines:
            self._line.send({"event": "lines", "program": number, "lines": lines})
        return bool(lines)

    def tell_end(self, fd: int) -> None:
        """Tell that a program has ended, with what it left."""
        number = self.running.pop(fd)
        program = self._programs[number]
        if program.control_fd in self.talking:
            while self.tell_lines(program.control_fd):
                pass
            del self.talking[program.control_fd]
        code = _exit_code(program)
        self._line.send({"event": "ended", "program": number, "code": code, **_left_by(program)})

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
        self.running[program.ended_fd] = number
        if launch.control:
            self.talking[program.control_fd] = number
        paths = {name: program.file_path(name) for name in launch.files}
        return {"pid": program.pid, "paths": paths}

    def _program(self, message: Message) -> LocalProgram:
        return self._programs[message["program"]]

    def _do_say(self, message: Message) -> None:
        self._program(message).say(message["line"])

    def _do_hang_up(self, message: Message) -> None:
        program = self._program(message)
        self.talking.pop(program.control_fd, None)
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
        self.talking.pop(program.control_fd, None)
        self.running.pop(program.ended_fd, None)
        program.end(message["grace_s"])
        return {"code": program.exit_code, "killed": program.killed, **_left_by(program)}

    def _do_close_program(self, message: Message) -> None:
        """Forget a program; one that still runs goes on, and is ended with the session."""
        program = self._program(message)
        if program.exit_code is not None:
            del self._programs[message["program"]]
            program.close()

    def close(self) -> None:
        """End them all."""
        for program in self._programs.values():
            program.hang_up()
        for program in self._programs.values():
            program.end()
            program.close()

    def kill(self) -> None:
        """Kill them all, while the main thread is busy with something else."""
        for program in list(self._programs.values()):
            if program.exit_code is None:
                with suppress(ProcessLookupError):
                    os.killpg(program.pid, signal.SIGKILL)


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
