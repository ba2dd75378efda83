"""The sections of the configuration that decide what is made of the measurements."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

ReportFormat = Literal["html", "pdf"]


@dataclass(frozen=True, slots=True)
class Statistics:
    """How repetitions are summarised: confidence (0.5 to 1), resamples [count], seed."""

    confidence: float
    resamples: int
    seed: int

    @classmethod
    def from_dict(cls, section: Mapping[str, Any]) -> Self:
        """Return what a checked section states."""
        return cls(
            confidence=float(section["confidence"]),
            resamples=int(section["resamples"]),
            seed=int(section["seed"]),
        )


@dataclass(frozen=True, slots=True)
class Report:
    """What the report looks like."""

    title: str
    formats: tuple[ReportFormat, ...]

    @classmethod
    def from_dict(cls, section: Mapping[str, Any]) -> Self:
        """Return what a checked section states."""
        return cls(title=section["title"].strip(), formats=tuple(section["formats"]))
