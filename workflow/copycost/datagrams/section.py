"""The section `datagrams` of the configuration, its grid, and the paths of its records."""

import itertools
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from copycost.errors import DataError

if TYPE_CHECKING:  # which itself imports this module
    from copycost.config import Measure

STUDY = "datagrams"
IPERF3 = "iperf3"
FIGURES = ("bitrate_and_loss", "cost")
"""Names of the figures, see `copycost.datagrams.figures`."""
RAW = f"results/raw/{STUDY}"
PATTERN = (
    "testbed={testbed}/driver={driver}/datagram_bytes={datagram_bytes}/n_streams={n_streams}"
    "/rep={rep}"
)
_PATH = re.compile(
    r"testbed=(?P<testbed>\w+)/driver=(?P<driver>\w+)/datagram_bytes=(?P<datagram_bytes>\d+)"
    r"/n_streams=(?P<n_streams>\d+)/rep=(?P<rep>\d+)\.json$"
)


@dataclass(frozen=True, slots=True)
class DatagramCell:
    """One repetition of one point: datagrams of one size over so many streams."""

    testbed: str
    driver: str
    datagram_bytes: int
    n_streams: int
    rep: int

    @property
    def path(self) -> str:
        """Path of the record."""
        return f"{RAW}/{PATTERN.format(**asdict(self))}.json"

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
            int(words["datagram_bytes"]),
            int(words["n_streams"]),
            int(words["rep"]),
        )


@dataclass(frozen=True, slots=True)
class DatagramSettings:
    """What decides how a repetition is measured.

    Attributes
    ----------
    warmup_s, duration_s
        Traffic before the window, and the window [s].
    sender_cpus, receiver_cpus
        CPU numbers to pin to in turn; None lets copycost choose.
    """

    warmup_s: float
    duration_s: float
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
class Datagrams:
    """The section of the configuration.

    Attributes
    ----------
    enabled
        Whether it is measured by the default target.
    drivers
        ``iperf3``, or names of strategies: our own sender.
    testbeds
        Names.
    datagram_bytes
        Sizes of the payload [bytes].
    n_streams
        Sockets that send [count].
    repetitions
        Of each point [count].
    warmup_s, duration_s
        Traffic before the window, and the window [s].
    """

    enabled: bool
    drivers: tuple[str, ...]
    testbeds: tuple[str, ...]
    datagram_bytes: tuple[int, ...]
    n_streams: tuple[int, ...]
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
            datagram_bytes=tuple(int(size) for size in section["datagram_bytes"]),
            n_streams=tuple(int(count) for count in section["n_streams"]),
            repetitions=int(section["repetitions"]),
            warmup_s=float(section["warmup_s"]),
            duration_s=float(section["duration_s"]),
        )

    def settings(self, measure: "Measure") -> DatagramSettings:
        """Return what decides how a repetition is measured; placement is the whole run's."""
        return DatagramSettings(
            self.warmup_s, self.duration_s, measure.cpus.sender, measure.cpus.receiver
        )

    def cells(self) -> tuple[DatagramCell, ...]:
        """Return every repetition, round by round.

        Our own receiver needs a path of its own, so our sender is left out on loopback.
        """
        points = itertools.product(
            range(1, self.repetitions + 1),
            self.testbeds,
            self.drivers,
            self.datagram_bytes,
            self.n_streams,
        )
        return tuple(
            DatagramCell(testbed, driver, size, n_streams, rep)
            for rep, testbed, driver, size, n_streams in points
            if driver == IPERF3 or testbed != "loopback"
        )

    def paths(self) -> list[str]:
        """Return the paths of all records."""
        return [cell.path for cell in self.cells()]
