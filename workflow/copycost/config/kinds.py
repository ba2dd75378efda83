"""Kinds of values that several sections of the configuration have."""

from copycost.config.capabilities import RECEIVERS
from copycost.config.placements import PLACEMENTS
from copycost.config.structure import ListOf, Name, Number, Or, Size, Word

IMPLEMENTATION = Word("the name of a file in src/strategies, or NAME_xN", r"\w{1,60}")
IMPLEMENTATIONS = ListOf("a list of implementations", IMPLEMENTATION, least=0)
SOME_IMPLEMENTATIONS = ListOf("a list of implementations, at least one", IMPLEMENTATION)
SENDERS = ListOf(
    "a list of drivers, at least one",
    Word("iperf3, or the name of a file in src/strategies", r"[a-z][a-z0-9_]{0,59}"),
)


def sizes(least: int = 1, most: int = 64 << 20, such_as: str = "4096 or 64KiB") -> ListOf:
    """Return the kind of a list of sizes [bytes]."""
    return ListOf("a list of sizes, at least one", Size(f"a size such as {such_as}", least, most))


MSG_BYTES = sizes()
N_THREADS = ListOf(
    "a list of numbers of threads, at least one", Number("a whole number of threads", 1, 256)
)
CONNECTIONS = ListOf(
    "a list of numbers of streams, at least one", Number("a whole number of streams", 1, 64)
)


class _Ring(Size):
    """The size of a ring of messages, in digits."""

    def made(self, value: int) -> str:
        return str(value)


WORKING_SETS = ListOf(
    "a list of working sets, at least one",
    Or(
        {"hot": "hot", "cold": "cold"},
        _Ring("hot, cold, or a size such as 16MiB", 4096, 1 << 40),
    ),
)
RECEIVED_BY = ListOf(
    "a list of receivers, at least one", Name("the name of a receiver", tuple(RECEIVERS))
)
PLACED = ListOf(
    "a list of placements, at least one", Name("the name of a placement", tuple(PLACEMENTS))
)

REPETITIONS = Number("a whole number of repetitions", 1, 10_000)
SEED = Number("a whole number", 0)
ANY_SETTLING_S = Number("a number of seconds", 0, 3600, whole=False)
ANY_WINDOW_S = Number("a number of seconds", above=0, most=3600, whole=False)
# where other tools drive, which start and end in their own time
SETTLING_S = Number("a number of seconds", 0.1, 60, whole=False)
WINDOW_S = Number("a number of seconds, 0.5 or more", 0.5, 600, whole=False)
