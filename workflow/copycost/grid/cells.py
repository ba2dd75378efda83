"""The grid of cells, the paths of their records, and the order in which they are measured."""

import hashlib
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from copycost.config.config import Config, RoundTrips, Streams
from copycost.errors import DataError
from copycost.grid.capabilities import can_exist, split_implementation
from copycost.grid.conditions import HOT, RECV, Condition

RAW_ROOT = "results/raw"

# Path of a record below RAW_ROOT: Hive-style folders, so that pandas, DuckDB and people read them
# alike. One definition serves the rule's output, the grid and the reader.
CELL_PATTERN = (
    "{study}/testbed={testbed}/implementation={implementation}/msg_bytes={msg_bytes}"
    "/n_threads={n_threads}/working_set={working_set}/receiver={receiver}/rep={rep}"
)

# What each part of the path may be, for Snakemake and for the reader; testbeds and implementations
# have their names checked with the configuration.
WORDS = {
    "study": "streams|round_trips",
    "testbed": r"\w+",
    "implementation": r"\w+",
    "msg_bytes": r"[1-9]\d*",
    "n_threads": r"[1-9]\d*",
    "working_set": r"hot|cold|[1-9]\d*",
    "receiver": r"[a-z]\w*",
    "rep": r"[1-9]\d*",
}

_CELL = re.compile(
    CELL_PATTERN.format(**{name: f"(?P<{name}>{word})" for name, word in WORDS.items()})
    + r"\.json$"
)


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One repetition of one point of a study's grid.

    Attributes
    ----------
    study, testbed, implementation
        Names.
    msg_bytes
        Message size [bytes].
    n_threads
        Connections, each with one sending and one receiving thread [count].
    working_set
        ``hot``, ``cold``, or the size of the ring of messages in digits [bytes].
    receiver
        How the other side receives.
    rep
        Number of the repetition, from 1.
    """

    study: str
    testbed: str
    implementation: str
    msg_bytes: int
    n_threads: int
    working_set: str
    receiver: str
    rep: int

    @property
    def strategy(self) -> str:
        """The implementation without its batch: the name of a file in src/strategies."""
        return split_implementation(self.implementation)[0]

    @property
    def batch(self) -> int:
        """Messages per system call [count]."""
        return split_implementation(self.implementation)[1]

    @property
    def condition(self) -> str:
        """Name of the condition, which is testbed, working set and receiver."""
        return Condition(self.testbed, self.working_set, self.receiver).slug

    @property
    def path(self) -> str:
        """Path of the cell's record, relative to the working folder."""
        name = CELL_PATTERN.format(
            study=self.study,
            testbed=self.testbed,
            implementation=self.implementation,
            msg_bytes=self.msg_bytes,
            n_threads=self.n_threads,
            working_set=self.working_set,
            receiver=self.receiver,
            rep=self.rep,
        )
        return f"{RAW_ROOT}/{name}.json"

    @classmethod
    def from_path(cls, path: str) -> Self:
        """Return the cell whose record has this path (what comes before the study is ignored).

        Raises
        ------
        DataError
            If the path is not that of a record.
        """
        match = _CELL.search(path)
        if match is None:
            raise DataError(
                f"{path}: not the path of a record, which is {RAW_ROOT}/{CELL_PATTERN}.json; "
                "move the file elsewhere"
            )
        return cls.from_words(**match.groupdict())

    @classmethod
    def from_words(
        cls,
        study: str,
        testbed: str,
        implementation: str,
        msg_bytes: str,
        n_threads: str,
        working_set: str,
        receiver: str,
        rep: str,
    ) -> Self:
        """Return the cell that wildcards, which are all text, name."""
        return cls(
            study,
            testbed,
            implementation,
            int(msg_bytes),
            int(n_threads),
            working_set,
            receiver,
            int(rep),
        )


@dataclass(frozen=True, slots=True)
class Grid:
    """All repetitions that a configuration asks for, sorted by key.

    Attributes
    ----------
    cells
        The repetitions of all studies.
    conditions
        Those of the study `streams`, in the order of the configuration.
    """

    cells: tuple[Cell, ...]
    conditions: tuple[Condition, ...]

    @classmethod
    def of(cls, config: Config) -> Self:
        """Return the grid of the studies `streams` (over TCP and UDP) and `round_trips`.

        A cell that cannot exist, such as segments over TCP, is left out.
        """
        repetitions = config.measure.repetitions
        cells = {
            *_stream_cells(config.streams, repetitions),
            *_stream_cells(config.udp, repetitions),
            *_round_trip_cells(config.round_trips, repetitions),
        }
        return cls(tuple(sorted(cells)), _conditions(cells, config.streams, config.udp))

    def paths(self, study: str | None = None) -> list[str]:
        """Return the paths of all records, or of those of one study, in the order of `cells`."""
        return [cell.path for cell in self.cells if study in (None, cell.study)]


def _stream_cells(grid: Streams, repetitions: int) -> Iterator[Cell]:
    """Yield the cells of a grid that can exist."""
    reps = range(1, repetitions + grid.extra_repetitions + 1)
    kinds = itertools.product(grid.implementations, grid.testbeds, grid.msg_bytes, grid.receivers)
    for implementation, testbed, msg_bytes, receiver in kinds:
        if not can_exist(implementation, testbed, msg_bytes, receiver):
            continue
        for n_threads, working_set, rep in itertools.product(
            grid.n_threads, grid.working_sets, reps
        ):
            yield Cell(
                "streams",
                testbed,
                implementation,
                msg_bytes,
                n_threads,
                working_set,
                receiver,
                rep,
            )


def _round_trip_cells(grid: RoundTrips, repetitions: int) -> Iterator[Cell]:
    """Yield the cells of a grid that can exist; a client waits, so there is nothing to batch."""
    reps = range(1, repetitions + 1)
    for implementation, testbed, msg_bytes, n_threads, rep in itertools.product(
        grid.implementations, grid.testbeds, grid.msg_bytes, grid.n_threads, reps
    ):
        if can_exist(implementation, testbed, msg_bytes, RECV):
            yield Cell("round_trips", testbed, implementation, msg_bytes, n_threads, HOT, RECV, rep)


def _conditions(cells: set[Cell], *grids: Streams) -> tuple[Condition, ...]:
    """Return the conditions under which there are cells, in the order of the configuration."""
    filled = {
        Condition(cell.testbed, cell.working_set, cell.receiver)
        for cell in cells
        if cell.study == "streams"
    }
    stated = (
        Condition(*words)
        for grid in grids
        for words in itertools.product(grid.testbeds, grid.working_sets, grid.receivers)
    )
    return tuple(condition for condition in dict.fromkeys(stated) if condition in filled)


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
