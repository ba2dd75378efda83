"""What rules on the configuration look at, and what they yield."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from copycost.grid.testbeds import Transport

# The names, and indices in lists, on the way to a value.
KeyPath = tuple[str | int, ...]
Problem = tuple[KeyPath, str]

GRIDS = ("streams", "udp", "round_trips")
TRANSPORTS: dict[str, Transport] = {
    "streams": "stream",
    "udp": "datagram",
    "round_trips": "stream",
}
DRIVEN: dict[str, Transport] = {"cpu_budget": "stream", "datagrams": "datagram"}
"""The studies whose senders may be iperf3, by what these send over."""


class Sound(Protocol):
    """The configuration as far as the schema has nothing against it."""

    def get(self, *path: str | int) -> Any:  # noqa: ANN401 - whatever the schema allows there
        """Return the value, or None where it, or what holds it, is missing or wrong."""

    def list(self, *path: str) -> Sequence[Any]:
        """Return the sound items of a list, none where there is no list."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the configuration has to fit.

    Attributes
    ----------
    strategies
        Ways to send that there are.
    usable_cpus
        CPU numbers that this process may run on.
    memory_bytes
        Memory of the host [bytes]; None where it is not known.
    """

    strategies: Collection[str]
    usable_cpus: Collection[int]
    memory_bytes: int | None = None
