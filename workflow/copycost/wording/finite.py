"""A text that would print "nan" stops the build instead."""

import math

from copycost.errors import DataError


def finite(value: float) -> float:
    """Return a number that can be written: neither a truth value, nor nan, nor infinite.

    Raises
    ------
    DataError
        If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise DataError(f"report text: got {value!r}, expected a finite number in facts.json")
    return float(value)
