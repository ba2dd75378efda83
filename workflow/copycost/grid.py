"""The grid of cells, the paths of their records, and the order in which they are measured."""

import hashlib
import itertools
import re
from dataclasses import dataclass
from typing import Self

from copycost.config import Config
from copycost.errors import DataError

RAW_ROOT = "results/raw"

# Path of a record below RAW_ROOT: Hive-style folders, so that pandas, DuckDB and people read them
# alike. One definition serves the rule's output, the grid and the reader.
CELL_PATTERN = (
    "testbed={testbed}/implementation={implementation}/msg_bytes={msg_bytes}"
    "/n_threads={n_threads}/rep={rep}"
)

_CELL = re.compile(
    r"(?P<study>[a-z_]+)/testbed=(?P<testbed>\w+)/implementation=(?P<implementation>\w+)"
    r"/msg_bytes=(?P<msg_bytes>[1-9]\d*)/n_threads=(?P<n_threads>[1-9]\d*)/rep=(?P<rep>[1-9]\d*)"
    r"\.json$"
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
    rep
        Number of the repetition, from 1.
    """

    study: str
    testbed: str
    implementation: str
    msg_bytes: int
    n_threads: int
    rep: int

    @property
    def path(self) -> str:
        """Path of the cell's record, relative to the working folder."""
        name = CELL_PATTERN.format(
            testbed=self.testbed,
            implementation=self.implementation,
            msg_bytes=self.msg_bytes,
            n_threads=self.n_threads,
            rep=self.rep,
        )
        return f"{RAW_ROOT}/{self.study}/{name}.json"

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
                f"{path}: not the path of a record, which is "
                f"{RAW_ROOT}/STUDY/{CELL_PATTERN}.json; move the file elsewhere"
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
        rep: str,
    ) -> Self:
        """Return the cell that wildcards, which are all text, name."""
        return cls(study, testbed, implementation, int(msg_bytes), int(n_threads), int(rep))


@dataclass(frozen=True, slots=True)
class Grid:
    """All repetitions that a configuration asks for, sorted by key."""

    cells: tuple[Cell, ...]

    @classmethod
    def of(cls, config: Config) -> Self:
        """Return the grid of the study `streams`."""
        streams = config.streams
        points = itertools.product(
            sorted(streams.testbeds),
            sorted(streams.implementations),
            sorted(streams.msg_bytes),
            sorted(streams.n_threads),
            range(1, config.measure.repetitions + 1),
        )
        return cls(tuple(Cell("streams", *point) for point in points))

    def paths(self) -> list[str]:
        """Return the paths of all records, in the order of `cells`."""
        return [cell.path for cell in self.cells]


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
