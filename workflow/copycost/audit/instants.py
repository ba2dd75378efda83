"""From texts to moments: when a repetition began or ended, as time stamps tell."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from copycost.audit.number_parsing import is_gap
from copycost.audit.quantities import unit_factor
from copycost.stats.settings import FloatArray

_SCALES = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3))
"""A count of seconds since 1970 has ten digits; longer ones count milliseconds and less."""

_MOST_CHARACTERS = 40


def parse_instants(texts: Sequence[str], unit: str | None) -> FloatArray:
    """Return moments in seconds since some moment, NaN where a text tells none.

    Parameters
    ----------
    texts
        Numbers, or dates with times of day (ISO 8601; UTC where no zone is told).
    unit
        What numbers count; None takes it from their size.
    """
    factor = unit_factor("instant", unit) if unit else None
    return np.array([_instant(text.strip(), factor) for text in texts], dtype=np.float64)


def _instant(text: str, factor: float | None) -> float:
    if is_gap(text) or len(text) > _MOST_CHARACTERS:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        return _date(text)
    if not math.isfinite(value) or abs(value) > 1e30:
        return math.nan
    if factor is None:
        factor = next((scale for least, scale in _SCALES if abs(value) >= least), 1.0)
    return value * factor


def _date(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text.replace("/", "-"))
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return zoned.timestamp()
    except (ValueError, OverflowError):
        return math.nan
