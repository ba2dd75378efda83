"""The section `cpu_budget` of the configuration, its grid, and the paths of its records."""

import hashlib
import itertools
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from copycost.errors import DataError

if TYPE_CHECKING:  # which itself imports this module
    from copycost.config import Measure

STUDY = "cpu_budget"
IPERF3 = "iperf3"
WHOLE_CPU = 100
FIGURES = ("cpu_used", "bitrate")
"""Names of the figures, see `copycost.cpu_budget.figures`."""
RAW = f"results/raw/{STUDY}"
PATTERN = (
    "testbed={testbed}/driver={driver}/limiter={limiter}/n_streams={n_streams}"
    "/limit_percent={limit_percent}/rep={rep}"
)
_PATH = re.compile(
    r"testbed=(?P<testbed>\w+)/driver=(?P<driver>\w+)/limiter=(?P<limiter>\w+)"
    r"/n_streams=(?P<n_streams>\d+)/limit_percent=(?P<limit_percent>\d+)/rep=(?P<rep>\d+)\.json$"
)


@dataclass(frozen=True, slots=True)
class BudgetCell:
    """One repetition of one point: so many streams, each with so much of a CPU for its sender."""

    testbed: str
    driver: str
    limiter: str
    n_streams: int
    limit_percent: int
    rep: int

    @property
    def path(self) -> str:
        """Path of the record."""
        return f"{RAW}/{PATTERN.format(**asdict(self))}.json"

    @property
    def offered_percent(self) -> int:
        """What all senders together may use: per cent of one CPU."""
        return self.limit_percent * self.n_streams

    @classmethod
    def from_path(cls, path: str) -> Self:
        """Return the cell whose record has this path.

        Raises
        ------
        DataError
            If the path is not of that form.
        """
        found = _PATH.search(path)
        if found is None:
            raise DataError(f"{path}: is no path of a record of {STUDY}, expected {PATTERN}.json")
        words = found.groupdict()
        return cls(
            words["testbed"],
            words["driver"],
            words["limiter"],
            int(words["n_streams"]),
            int(words["limit_percent"]),
            int(words["rep"]),
        )


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """What decides how a repetition is measured.

    Attributes
    ----------
    message_bytes
        Bytes per write.
    warmup_s, duration_s
        Traffic under the limit before the window, and the window [s].
    congestion_control
        Over TCP.
    sender_cpus, receiver_cpus
        CPU numbers to pin to in turn; None lets copycost choose.
    """

    message_bytes: int
    warmup_s: float
    duration_s: float
    congestion_control: str
    sender_cpus: tuple[int, ...] | None
    receiver_cpus: tuple[int, ...] | None

    def as_params(self) -> dict[str, Any]:
        """Return plain values, which Snakemake stores and compares from run to run."""
        return asdict(self)

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        """Return the settings that `as_params` gave."""
        return cls(**params)


@dataclass(frozen=True, slots=True)
class CpuBudget:
    """The section of the configuration.

    Attributes
    ----------
    enabled
        Whether it is measured by the default target.
    drivers
        ``iperf3``, or names of strategies: our own sender.
    testbeds, limiters
        Names.
    n_streams
        Parallel connections [count].
    limit_percent
        What each stream's sender may use: per cent of one CPU.
    message_bytes
        Bytes per write.
    repetitions
        Of each point [count].
    warmup_s, duration_s
        Traffic under the limit before the window, and the window [s].
    """

    enabled: bool
    drivers: tuple[str, ...]
    testbeds: tuple[str, ...]
    limiters: tuple[str, ...]
    n_streams: tuple[int, ...]
    limit_percent: tuple[int, ...]
    message_bytes: int
    repetitions: int
    warmup_s: float
    duration_s: float

    @classmethod
    def from_dict(cls, section: Mapping[str, Any]) -> Self:
        """Return what a checked section states."""
        return cls(
            enabled=bool(section["enabled"]),
            drivers=tuple(section["drivers"]),
            testbeds=tuple(section["testbeds"]),
            limiters=tuple(section["limiters"]),
            n_streams=tuple(int(count) for count in section["n_streams"]),
            limit_percent=tuple(int(share) for share in section["limit_percent"]),
            message_bytes=int(section["message_bytes"]),
            repetitions=int(section["repetitions"]),
            warmup_s=float(section["warmup_s"]),
            duration_s=float(section["duration_s"]),
        )

    def settings(self, measure: "Measure") -> BudgetSettings:
        """Return what decides how a repetition is measured; placement is the whole run's."""
        return BudgetSettings(
            self.message_bytes,
            self.warmup_s,
            self.duration_s,
            measure.congestion_control,
            measure.cpus.sender,
            measure.cpus.receiver,
        )

    def cells(self) -> tuple[BudgetCell, ...]:
        """Return every repetition, round by round."""
        points = itertools.product(
            range(1, self.repetitions + 1),
            self.testbeds,
            self.drivers,
            self.limiters,
            self.n_streams,
            self.limit_percent,
        )
        return tuple(
            BudgetCell(testbed, driver, limiter, n_streams, limit, rep)
            for rep, testbed, driver, limiter, n_streams, limit in points
        )

    def paths(self) -> list[str]:
        """Return the paths of all records."""
        return [cell.path for cell in self.cells()]


def priority(words: Mapping[str, Any], seed: int) -> int:
    """Return the place of a repetition in the order: round by round, shuffled within each.

    Parameters
    ----------
    words : mapping
        The wildcards of the rule, `rep` among them.
    seed : int
        Of the shuffle.
    """
    text = ",".join(f"{key}={value}" for key, value in sorted(words.items()))
    shuffled = int.from_bytes(hashlib.sha256(f"{seed}:{text}".encode()).digest()[:3])
    return -int(words["rep"]) * (1 << 24) + shuffled
