"""An agent's way back to who asks: answers, and news that come by themselves."""

import os
import threading
from contextlib import suppress

from copycost.hosts.remote import messages
from copycost.hosts.remote.messages import Message


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
