"""Ratios as facts, and the same ratio over many cells."""

import numpy as np

from copycost.analysis.json_values import Facts
from copycost.stats.ratios import Direction, Ratio

_SIGNS = {Direction.ABOVE: 1, Direction.BELOW: -1, Direction.NO_DIFFERENCE: 0}


def ratio_sign(found: Ratio) -> int | None:
    """Return 1 above, -1 below, 0 no difference seen, None not measured; once: by value alone."""
    if found.direction is Direction.NOT_MEASURED:
        return None
    if found.direction is Direction.OBSERVED_ONCE:
        return int(np.sign(found.value - 1.0))
    return _SIGNS[found.direction]


def ratio_facts(found: Ratio) -> Facts:
    """Return a ratio for the templates: n (rounds), value, low, high, sign, once."""
    return {
        "n": found.n_pairs,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "sign": ratio_sign(found),
        "once": found.direction is Direction.OBSERVED_ONCE,
    }
