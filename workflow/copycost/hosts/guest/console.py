"""What a guest prints on its console: kept in memory, and of much of it the end."""

import os
import re
from collections import deque

_SHOWN = 8
_TIME = re.compile(r"^\[ *\d+\.\d+\] ")


class Console:
    """The last lines of a guest's console; its descriptor is closed by `close`."""

    def __init__(self, fd: int, most_lines: int = 400, most_line_bytes: int = 1000) -> None:
        self.fd = fd
        os.set_blocking(fd, False)
        self._lines: deque[str] = deque(maxlen=most_lines)
        self._most_line_bytes = most_line_bytes
        self._rest = b""

    def pump(self) -> bool:
        """Take in what has come; return False once nothing can come any more."""
        while True:
            try:
                data = os.read(self.fd, 1 << 16)
            except BlockingIOError:
                return True
            if not data:
                return False
            *lines, rest = (self._rest + data).split(b"\n")
            self._rest = rest[: self._most_line_bytes]
            self._lines += [line.decode(errors="replace").strip("\r\x00") for line in lines]

    def lines(self) -> list[str]:
        """Return the last lines, the unfinished one too."""
        rest = self._rest.decode(errors="replace").strip()
        return [*(line for line in self._lines if line.strip()), *([rest] if rest else [])]

    def says(self, words: str) -> bool:
        """Return whether one of the lines has these words."""
        return any(words in line for line in self.lines())

    def first(self, words: str) -> str | None:
        """Return the first line that has these words, without the kernel's time; None for none."""
        found = next((line for line in self.lines() if words in line), None)
        return None if found is None else _TIME.sub("", found)

    def end(self) -> str:
        """Return the last lines as the end of a message."""
        return " | ".join(self.lines()[-_SHOWN:]) or "nothing"

    def close(self) -> None:
        """Close the descriptor."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
