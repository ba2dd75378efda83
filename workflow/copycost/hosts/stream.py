"""What a command prints while it runs, on whatever host."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from copycost.errors import HostError
from copycost.hosts.host import Host, Program
from copycost.hosts.launch import Launch

_OUTPUT = "output"
_LOOK_S = 0.2


@contextmanager
def stream(host: Host, words: Sequence[str]) -> Iterator[IO[bytes]]:
    """Return a block with what a command prints; what is not read in it is passed over.

    HostError at the end of a block without an error, if the command's end is no success.
    """
    program = host.start(Launch(tuple(words), words[0], pipes=(_OUTPUT,), output=_OUTPUT))
    try:
        output = _Output(program)
        yield io.BufferedReader(output)
        output.readall()
        while (code := program.wait(_LOOK_S)) is None:
            pass
        if code != 0:
            said = program.errors().strip().splitlines() or ["it said nothing"]
            raise HostError(
                f"{' '.join(words[:2])} ended with exit status {code}: {said[-1].strip()}"
            )
    finally:
        program.end()
        program.close()


class _Output(io.RawIOBase):
    """A pipe of a program, read piece by piece."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._held = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._held:
            data = self._program.read_pipe(_OUTPUT, _LOOK_S)
            if data == b"":
                return 0
            self._held = data or b""
        taken, self._held = self._held[: len(buffer)], self._held[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)
