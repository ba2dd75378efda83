"""A legend above all panels, in columns of one width."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from copycost.figures.style import WIDTH_CM
from copycost.figures.text import LABEL_PT, text_width_cm

LEGEND_ROW_CM = 0.44
"""Height of a row of any legend above panels [cm]."""


def put_legend(
    figure: Figure,
    handles: Sequence[Line2D | Patch],
    handle_cm: float,
    handle_length: float = 1.0,
) -> float:
    """Put a legend above all panels; return its height [cm], which `put_note` needs.

    Parameters
    ----------
    figure
        With a constrained layout.
    handles
        At least one, with labels.
    handle_cm
        What a column takes besides its longest label [cm].
    handle_length
        Of a line or patch, in heights of a letter.
    """
    widest = max(text_width_cm(str(handle.get_label()), LABEL_PT) for handle in handles)
    columns = max(1, min(len(handles), int(WIDTH_CM / (widest + handle_cm))))
    figure.legend(
        handles=list(handles), ncols=columns, loc="upper left", bbox_to_anchor=(0, 1),
        borderpad=0.2, handlelength=handle_length, columnspacing=1.4, labelspacing=0.35,
    )  # fmt: skip
    return -(-len(handles) // columns) * LEGEND_ROW_CM
