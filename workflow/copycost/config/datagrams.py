"""The section `datagrams` of the configuration, its grid, and the paths of its records."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from copycost.config.driven import DrivenCell, DrivenSection, DrivenSettings
from copycost.grid.capabilities import IPERF3

if TYPE_CHECKING:  # which itself imports this module
    from copycost.config.config import Measure

FIGURES = ("bitrate_and_loss", "cost")
"""Names of the figures, see `copycost.studies.datagrams.figures`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatagramCell(DrivenCell):
    """One repetition of one point: datagrams of one size over so many streams."""

    study: ClassVar[str] = "datagrams"
    pattern: ClassVar[str] = (
        "testbed={testbed}/driver={driver}/datagram_bytes={datagram_bytes}/n_streams={n_streams}"
        "/rep={rep}"
    )

    datagram_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Datagrams(DrivenSection):
    """The section of the configuration.

    Attributes
    ----------
    datagram_bytes
        Sizes of the payload [bytes].
    """

    datagram_bytes: tuple[int, ...]

    @classmethod
    def from_dict(cls, section: Mapping[str, Any]) -> Self:
        """Return what a checked section states."""
        return cls(
            **cls.shared_values(section),
            datagram_bytes=tuple(int(size) for size in section["datagram_bytes"]),
        )

    def settings(self, measure: "Measure") -> DrivenSettings:
        """Return what decides how a repetition is measured; placement is the whole run's."""
        return DrivenSettings(
            warmup_s=self.warmup_s,
            duration_s=self.duration_s,
            sender_cpus=measure.cpus.sender,
            receiver_cpus=measure.cpus.receiver,
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
            DatagramCell(
                testbed=testbed,
                driver=driver,
                datagram_bytes=datagram_bytes,
                n_streams=n_streams,
                rep=rep,
            )
            for rep, testbed, driver, datagram_bytes, n_streams in points
            if driver == IPERF3 or testbed != "loopback"
        )
