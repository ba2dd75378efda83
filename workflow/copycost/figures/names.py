"""Which figures there are."""

FIGURES = (
    "throughput",
    "latency",
    "counters",
    "cost_per_byte",
    "ratio_heatmap",
    "copied_share",
)
"""Every figure of one condition; ``draw`` in the module of the same name draws it."""

AUDIT_FIGURES = tuple("time_per_message" if name == "latency" else name for name in FIGURES)
"""The same of an audited table, which has a mean latency at most and no sampled sends."""

RANKING = "ranking"
"""The figure of one condition that is drawn from its facts."""

OVERVIEW = "all"
"""The folder of the figures of all conditions, drawn from their facts and tables."""
