"""How sure, how many resamples, which seed."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StatisticsSettings:
    """What every interval of a run has in common."""

    confidence: float = 0.95
    """Share of intervals that shall hold the truth, 0 to 1; two-sided."""
    resamples: int = 5000
    """Number of bootstrap resamples."""
    seed: int = 1
    """Seed of every random draw, so that a rebuilt report is the same to the last digit."""

    @property
    def tail(self) -> float:
        """Return the probability left out on each side."""
        return (1.0 - self.confidence) / 2.0
