"""The sections of the configuration that decide what is made of the measurements."""

from dataclasses import dataclass
from typing import Literal

ReportFormat = Literal["html", "pdf"]


@dataclass(frozen=True, slots=True)
class Statistics:
    """How repetitions are summarised: confidence (0.5 to 1), resamples [count], seed."""

    confidence: float
    resamples: int
    seed: int


@dataclass(frozen=True, slots=True)
class Report:
    """What the report looks like."""

    title: str
    formats: tuple[ReportFormat, ...]
