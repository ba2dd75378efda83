"""Intervals, verdicts and crossovers. Arrays in, numbers out; nothing here knows what was measured.

The replicate is the repetition: a process run of its own, never a sample within one.
"""

ALIKE = 1.05
"""Things are alike where no ratio of the best to another can be above this."""
