"""Which figures there are, and which files of this package each one depends on."""

FIGURES = (
    "throughput",
    "service_time",
    "counters",
    "cost_per_byte",
    "ratio_heatmap",
    "copied_share",
)
"""Every figure of one condition; ``draw`` in the module of the same name draws it."""

RANKING = "ranking"
"""The figure of one condition that is drawn from its facts."""

OVERVIEW = "all"
"""The folder of the figures that are of no single condition."""

OVERVIEWS = ("memory_floor", "real_zero_copy", "round_trips")
"""The figures in it, drawn from the facts and the tables of all conditions."""

_SHARED = (
    "figures/style.py",
    "figures/looks.py",
    "figures/text.py",
    "figures/tables.py",
    "figures/axes.py",
    "figures/sheet.py",
    "figures/lines.py",
    "figures/output.py",
    "analysis/labels.py",
    "analysis/metrics.py",
    "analysis/tables.py",
    "records/columns.py",
    "records/table.py",
    "report/filters.py",
    "stats/medians.py",
    "capabilities.py",
    "percent.py",
    "sizes.py",
)


def figure_code(figure: str) -> tuple[str, ...]:
    """Return the files below ``workflow/copycost`` that decide how one figure looks.

    They are inputs of the rule that draws it, since Snakemake does not see edits of imported
    modules. Naming the one module and the shared ones makes an edit redraw that figure alone, or
    all of them.
    """
    return (f"figures/{figure}.py", *_SHARED)


def overview_code() -> tuple[str, ...]:
    """Return the files that decide how the figures drawn from facts look."""
    own = (f"figures/{figure}.py" for figure in (RANKING, *OVERVIEWS))
    return (*own, "figures/overviews.py", "records", *_SHARED)
