"""Bars of the parts of a cost upon each other, one bar per message size."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from copycost.figures.text import size_label
from copycost.figures.tips import add_tips
from copycost.stats.settings import FloatArray
from copycost.wording.filters import significant

_BAR = 0.7


def draw_stacked(
    axes: Axes, parts: pd.DataFrame, looks: Mapping[str, tuple[str, str]], unit: str
) -> FloatArray:
    """Draw one bar per size, its parts upon each other; return how high each bar reaches.

    The bars stand at 0, 1 and so on, in the order of the rows of `parts`: a row per size in bytes,
    a column per part. What is missing is not drawn; what is below 0 hangs below. Looks are title
    and colour of each part, from the lowest up; the unit is for the tips.
    """
    places = range(len(parts))
    above, below = np.zeros(len(parts)), np.zeros(len(parts))
    for part, (title, colour) in looks.items():
        if part not in parts:
            continue
        values = parts[part].fillna(0.0).to_numpy(dtype=np.float64)
        if not values.any():
            continue
        base = np.where(values >= 0.0, above, below)
        axes.bar(places, values, _BAR, bottom=base, color=colour, edgecolor="white", lw=0.4)
        tips = [
            f"{size_label(size)}, {title}: {significant(value)} {unit}"
            for size, value in zip(parts.index, values, strict=True)
        ]
        add_tips(axes, [*map(float, places)], list(base + values / 2), tips)
        above, below = above + values.clip(min=0.0), below + values.clip(max=0.0)
    axes.set_xticks(places, [size_label(size) for size in parts.index])
    axes.grid(axis="y")
    return above
