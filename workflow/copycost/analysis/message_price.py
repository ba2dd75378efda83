"""Whether a price per message hides, in small messages, what the second copy costs."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE
from copycost.analysis.quantities import ONE
from copycost.analysis.ratio_facts import ratio_facts
from copycost.stats.ratios import Direction
from copycost.stats.selection import simultaneous_ratio
from copycost.stats.settings import FloatArray


def message_price(view: View) -> Facts:
    """Return whether the cost of one_copy over that of two_copy only falls with the size.

    If a message costs so much, and each of its bytes so much, then the quotient of two such costs
    goes from the quotient of the prices per message to that of the prices per byte, and never
    back. So a quotient that rises from one size to the next contradicts that this is all there is.

    Keys
    ----
    weight
        ``shown`` (it falls from the smallest size to the largest, and nowhere was seen to rise),
        ``contradicted`` (it rises somewhere), ``undecided``, ``not_measured``.
    rise
        Where it rises most: from_bytes, to_bytes, n_threads and the ratio, whose interval allows
        for the choice among all steps; None where it was not seen to rise.
    """
    if not view.has(ONE, BASELINE) or not view.counted(view.cost_column):
        return {"weight": "not_measured", "rise": None}
    logs = view.logs(view.cost_column, ONE, BASELINE)
    steps = list(_steps(logs))
    spans = list(_spans(logs))
    if not spans:
        return {"weight": "not_measured", "rise": None}
    rises = []
    for where, rounds in steps:
        found = simultaneous_ratio(rounds, len(steps), view.settings.confidence)
        if found.direction is Direction.ABOVE:
            rises.append(where | ratio_facts(found))
    if rises:
        return {"weight": "contradicted", "rise": max(rises, key=lambda rise: rise["value"])}
    falls = [simultaneous_ratio(rounds, len(spans), view.settings.confidence) for rounds in spans]
    falling = all(one.direction is Direction.BELOW for one in falls)
    return {"weight": "shown" if falling else "undecided", "rise": None}


def _steps(logs: pd.DataFrame) -> Iterator[tuple[Facts, FloatArray]]:
    """Yield how the log ratio changes to the next size, per thread count and round."""
    for n_threads, sizes in _by_threads(logs):
        for (small, before), (large, after) in pairwise(sizes):
            where = {"from_bytes": small, "to_bytes": large, "n_threads": n_threads}
            yield where, after - before


def _spans(logs: pd.DataFrame) -> Iterator[FloatArray]:
    """Yield how it changes from the smallest size to the largest, per thread count and round."""
    for _, sizes in _by_threads(logs):
        if len(sizes) > 1:
            yield sizes[-1][1] - sizes[0][1]


def _by_threads(logs: pd.DataFrame) -> Iterator[tuple[int, list[tuple[int, FloatArray]]]]:
    for n_threads, rows in logs.groupby(level="n_threads"):
        rows = rows.sort_index()
        sizes = (int(size) for size in rows.index.get_level_values("msg_bytes"))
        yield int(str(n_threads)), list(zip(sizes, rows.to_numpy(np.float64), strict=True))
