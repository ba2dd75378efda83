"""The section `cpu_budget` of the configuration, its grid, and the paths of its records."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from copycost.config.driven import DrivenCell, DrivenSection, DrivenSettings

if TYPE_CHECKING:  # which itself imports this module
    from copycost.config.config import Measure

WHOLE_CPU = 100
FIGURES = ("cpu_used", "bitrate")
"""Names of the figures, see `copycost.studies.cpu_budget.figures`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetCell(DrivenCell):
    """One repetition of one point: so many streams, each with so much of a CPU for its sender."""

    study: ClassVar[str] = "cpu_budget"
    pattern: ClassVar[str] = (
        "testbed={testbed}/driver={driver}/limiter={limiter}/n_streams={n_streams}"
        "/limit_percent={limit_percent}/rep={rep}"
    )

    limiter: str
    limit_percent: int

    @property
    def offered_percent(self) -> int:
        """What all senders together may use: per cent of one CPU."""
        return self.limit_percent * self.n_streams


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSettings(DrivenSettings):
    """What decides how a repetition is measured.

    Attributes
    ----------
    message_bytes
        Bytes per write.
    congestion_control
        Over TCP.
    """

    message_bytes: int
    congestion_control: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuBudget(DrivenSection):
    """The section of the configuration.

    Attributes
    ----------
    limiters
        Names.
    limit_percent
        What each stream's sender may use: per cent of one CPU.
    message_bytes
        Bytes per write.
    """

    limiters: tuple[str, ...]
    limit_percent: tuple[int, ...]
    message_bytes: int

    @classmethod
    def from_dict(cls, section: Mapping[str, Any]) -> Self:
        """Return what a checked section states."""
        return cls(
            **cls.shared_values(section),
            limiters=tuple(section["limiters"]),
            limit_percent=tuple(int(share) for share in section["limit_percent"]),
            message_bytes=int(section["message_bytes"]),
        )

    def settings(self, measure: "Measure") -> BudgetSettings:
        """Return what decides how a repetition is measured; placement is the whole run's."""
        return BudgetSettings(
            warmup_s=self.warmup_s,
            duration_s=self.duration_s,
            sender_cpus=measure.cpus.sender,
            receiver_cpus=measure.cpus.receiver,
            message_bytes=self.message_bytes,
            congestion_control=measure.congestion_control,
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
            BudgetCell(
                testbed=testbed,
                driver=driver,
                limiter=limiter,
                n_streams=n_streams,
                limit_percent=limit_percent,
                rep=rep,
            )
            for rep, testbed, driver, limiter, n_streams, limit_percent in points
        )
