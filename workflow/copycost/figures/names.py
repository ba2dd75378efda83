"""Which figures there are, and which files of this package each one depends on."""

FIGURES = (
    "throughput",
    "service_time",
    "counters",
    "cost_per_byte",
    "ratio_heatmap",
    "copied_share",
)
"""Every figure; ``draw`` in the module of the same name draws it."""

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
