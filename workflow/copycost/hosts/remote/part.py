"""A part of what an agent does for one session."""

from collections.abc import Callable
from typing import Any

from copycost.hosts.remote.messages import Message


class Part:
    """Serves the requests for which it has a method: that for ``start`` is ``_do_start``."""

    def server_of(self, op: str) -> Callable[[Message], Any] | None:
        """Return what serves a request; None if this part does not."""
        return getattr(self, f"_do_{op}", None)
