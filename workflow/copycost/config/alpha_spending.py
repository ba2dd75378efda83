"""How sure verdicts are where rounds are added as long as a comparison is open.

Who looks again and again, and stops when there is a difference to be seen, sees one too often:
five looks at intervals of 95 % find a difference where there is none in about 15 %. So two
confidences: a comparison gets no further rounds once a much stricter interval shows a difference,
and the analysis, which comes last, is a little stricter than stated. A verdict is wrong at most as
often as any of these intervals misses the truth, and their shares add up to what the configuration
states (Haybittle and Peto's rule). No look counts with few rounds, which may agree by chance where
the noise has two modes. ``docs/method.md`` shows that this holds.

Source
------
J. L. Haybittle, Brit. J. Radiology 44 (1971); R. Peto et al., Brit. J. Cancer 34 (1976).
"""

PASSES = 4
"""Passes behind the grid, at most, and so the looks at a comparison before the analysis."""

FEWEST_ROUNDS = 5
"""With fewer rounds [count] no comparison is settled."""

# The share of all errors that each look but the last may make.
_PER_LOOK = 0.05


def confidence_to_settle(stated: float) -> float:
    """Return the confidence with which a comparison is settled before the end (0 to 1)."""
    return 1.0 - _PER_LOOK * (1.0 - stated)


def confidence_of_analysis(stated: float) -> float:
    """Return the confidence of the analysis behind the looks (0 to 1)."""
    return 1.0 - (1.0 - PASSES * _PER_LOOK) * (1.0 - stated)


def stated_confidence(of_analysis: float) -> float:
    """Return the confidence that `confidence_of_analysis` was given (0 to 1)."""
    return round(1.0 - (1.0 - of_analysis) / (1.0 - PASSES * _PER_LOOK), 12)
