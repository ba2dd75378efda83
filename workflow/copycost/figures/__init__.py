"""Figures: one module per kind of figure, each turning tables into a drawing and its data.

This package imports nothing by itself: the workflow asks it for file names at every start, and
must not pay for matplotlib then.
"""

FIGURES = ("speed_and_cost", "counters")
"""Every figure of one condition that is drawn from its tables."""

AUDIT_FIGURES = (*FIGURES, "time_per_message")
"""Those of an audited table, which may have a mean latency."""

RANKING = "ranking"
"""The figure of one condition that is drawn from its facts."""

OVERVIEW = "all"
"""The folder of the figures of all conditions, drawn from their facts and tables."""
