"""Which figures there are, and which files of this package each one depends on."""

from pathlib import Path

FIGURES = (
    "throughput",
    "service_time",
    "counters",
    "cost_per_byte",
    "ratio_heatmap",
    "copied_share",
)
"""Every figure; ``draw`` in the module of the same name draws it."""

_SHARED = ("style", "tables", "axes", "sheet", "lines", "output")


def figure_code(figure: str) -> list[str]:
    """Return the files that decide how one figure looks, as inputs of the rule that draws it.

    Snakemake does not see edits of imported modules. Naming the one module and the shared ones
    makes an edit redraw that figure alone, or all of them.
    """
    folder = Path(__file__).parent
    return [str(folder / f"{module}.py") for module in (figure, *_SHARED)]
