"""Cells: the points of the studies' grids, the paths of their records, and their order."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import product
from math import prod
from typing import Any, Self

from copycost.config.conditions import HOT, RECV, Condition
from copycost.config.simulation_variants import PLAIN, VARIANTS
from copycost.config.strategy_capabilities import can_exist, split_implementation
from copycost.config.testbeds import APART, PLACEMENTS
from copycost.errors import DataError

RAW_ROOT = "results/raw"

WHOLE_CPU = 100
"""The limit of a cell whose senders may use all of a CPU [%]."""

UNLIMITED = "none"
"""The limiter of a cell that nothing limits."""

_STREAM = (
    *("testbed", "implementation", "msg_bytes", "n_threads"),
    *("working_set", "receiver", "placement", "rep"),
)
DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    "streams": _STREAM,
    "round_trips": _STREAM,
    "profile": _STREAM,
    "cpu_budget": (
        *("testbed", "implementation", "msg_bytes", "n_threads"),
        *("limiter", "limit_percent", "rep"),
    ),
    "datagrams": ("testbed", "implementation", "msg_bytes", "n_threads", "rep"),
    "simulated": ("testbed", "implementation", "msg_bytes", "working_set", "variant"),
}
"""What tells the cells of a study apart: the folders of a record's path, in their order."""

# What each part of the path may be, for Snakemake and for the reader; testbeds and implementations
# have their names checked with the configuration.
WORDS = {
    "study": "|".join(DIMENSIONS),
    "testbed": r"[a-z][\w-]*",
    "implementation": r"[a-z]\w*",
    "msg_bytes": r"[1-9]\d*",
    "n_threads": r"[1-9]\d*",
    "working_set": r"hot|cold|[1-9]\d*",
    "receiver": r"[a-z]\w*",
    "placement": "|".join(PLACEMENTS),
    "limiter": r"[a-z]\w*",
    "limit_percent": r"[1-9]\d*",
    "variant": "|".join(VARIANTS),
    "rep": r"[1-9]\d*",
}

LISTS: Mapping[str, str] = {
    "testbed": "testbeds",
    "implementation": "implementations",
    "limiter": "limiters",
    "msg_bytes": "msg_bytes",
    "n_threads": "n_threads",
    "working_set": "working_sets",
    "receiver": "receivers",
    "placement": "placements",
    "limit_percent": "limit_percent",
}
"""The keys of sections of the configuration that list what cells have, by the dimension."""


def pattern_of(study: str) -> str:
    """Return the path of a study's records below `RAW_ROOT`, without ending: a wildcard per folder.

    Hive-style, so that pandas, DuckDB and people read them alike. One definition serves the rule's
    output, the grid and the reader.
    """
    return "/".join([study, *(f"{name}={{{name}}}" for name in DIMENSIONS[study])])


def record_pattern(study: str) -> str:
    """Return the path of a study's records, relative to the working folder."""
    return f"{RAW_ROOT}/{pattern_of(study)}.json"


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One repetition of one point of a study's grid.

    An implementation is a strategy of ours, with `_xN` for N messages per call, or ``iperf3``.
    """

    study: str
    testbed: str
    implementation: str
    msg_bytes: int  # per write, and over UDP per datagram
    n_threads: int  # connections, or sockets that send; of ours each with a thread at each end
    working_set: str = HOT  # or ``cold``, or the size of the ring of messages in digits [bytes]
    receiver: str = RECV
    placement: str = APART
    rep: int = 1
    limiter: str = UNLIMITED  # of the senders' CPU
    limit_percent: int = WHOLE_CPU  # that each connection may use [% of one CPU]
    variant: str = PLAIN  # what is changed where counts are simulated

    @property
    def strategy(self) -> str:
        """The implementation without its batch: the name of a file in src/strategies."""
        return split_implementation(self.implementation)[0]

    @property
    def batch(self) -> int:
        """Messages per system call [count]."""
        return split_implementation(self.implementation)[1]

    @property
    def kind(self) -> tuple[str, str, int, str, str]:
        """What decides whether it can exist at all, see `can_exist`."""
        return self.implementation, self.testbed, self.msg_bytes, self.receiver, self.placement

    @property
    def condition(self) -> str:
        """Name of the condition: testbed, working set, receiver and placement."""
        return Condition(self.testbed, self.working_set, self.receiver, self.placement).slug

    @property
    def key(self) -> dict[str, Any]:
        """What tells the cell from others of its study, as records and paths name it."""
        return {name: getattr(self, name) for name in DIMENSIONS[self.study]}

    @property
    def path(self) -> str:
        """Path of the cell's record, relative to the working folder."""
        return record_pattern(self.study).format(**self.key)

    @classmethod
    def from_path(cls, path: str) -> Self:
        """Return the cell whose record has this path (what comes before the study is ignored).

        Raises DataError if the path is not that of a record.
        """
        for study, form in _FORMS.items():
            match = form.search(path)
            if match is not None:
                return cls.from_words(study, **match.groupdict())
        raise DataError(
            f"{path}: not the path of a record, which is {record_pattern('streams')}, or the like"
            " of another study; move the file elsewhere"
        )

    @classmethod
    def from_words(cls, study: str, **words: str) -> Self:
        """Return the cell that wildcards, which are all text, name."""
        values: dict[str, Any] = {
            name: int(word) if name in _NUMBERS else word for name, word in words.items()
        }
        values.setdefault("n_threads", 1)  # of studies that have no such dimension
        return cls(study=study, **values)


_NUMBERS = frozenset(field.name for field in fields(Cell) if field.type is int)
_FORMS = {
    study: re.compile(
        r"(?:^|/)"
        + pattern_of(study).format(**{name: f"(?P<{name}>{word})" for name, word in WORDS.items()})
        + r"\.json$"
    )
    for study in DIMENSIONS
}


def values_of(section: object) -> dict[str, tuple[Any, ...]]:
    """Return what a section of the configuration lists, by dimension."""
    stated = {name: getattr(section, key, None) for name, key in LISTS.items()}
    return {
        name: of if isinstance(of, tuple) else (of,)
        for name, of in stated.items()
        if of is not None
    }


_KIND = ("implementation", "testbed", "msg_bytes", "receiver", "placement")


def kinds_of(section: object) -> list[tuple[Any, ...]]:
    """Return the kinds of cells that a section asks for, see `Cell.kind`, and that can exist."""
    lists = {"receiver": (RECV,), "placement": (APART,), **values_of(section)}
    return [kind for kind in product(*(lists[name] for name in _KIND)) if can_exist(*kind)]


def n_cells(section: object) -> int:
    """Return how many cells a section asks for, without making them: there may be millions."""
    others = (of for name, of in values_of(section).items() if name not in _KIND)
    return prod(map(len, others)) * len(kinds_of(section))


def cells_of(study: str, section: object, reps: Iterable[int] = (1,)) -> Iterator[Cell]:
    """Yield the cells that a section asks for, round by round: all combinations that can exist."""
    lists = {"rep": tuple(reps), **values_of(section)}
    lists.setdefault("n_threads", (1,))
    for values in product(*lists.values()):
        cell = Cell(study, **dict(zip(lists, values, strict=True)))
        if can_exist(*cell.kind):
            yield cell


def cell_priority(cell: Cell, order_seed: int) -> int:
    """Return the job priority of a cell: round after round, shuffled within a round.

    Rounds make drift of the machine fall on all cells alike; the shuffle keeps one cell from always
    following the same other one. A hash instead of a shuffled list, so that the order among the
    cells that exist stays the same when others are added. All priorities are negative: whatever is
    not a measurement (a build, say) goes first.
    """
    name = f"{order_seed}:{cell.path}"
    shuffle = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
    return -((cell.rep << 32) | shuffle)
