"""Figure: throughput, and the cost of a byte, against message size."""

from copycost.figures.over_size import draw_over_size
from copycost.figures.style import styled
from copycost.figures.tables import Drawn, Quantity, Tables, points
from copycost.figures.text import empty_figure

_WHY = {
    "cycles_not_counted": "Cycles were not counted on this host.",
    "cycles_user_mode_only": "Cycles were counted in user mode only and are not shown.",
}
_SENDER_ALONE = "Bytes sent and not lost; the cost is the sender's, since there is no receiver."


@styled
def draw(tables: Tables) -> Drawn:
    """Draw received bits per second, and what a byte costs both sides, or a sender without any.

    The cost is the best that the run could count: cycles, else CPU time, else reference cycles.
    """
    cost, side = tables.cost, tables.sides[-1]
    throughput = Quantity("throughput", "Gbit/s", 1e-9)
    of_byte = Quantity(f"{cost.label}, {side}", f"{cost.unit}/B")
    data = points(tables, {"throughput_bits_per_s": throughput, cost.column(side): of_byte})
    known = set(data.loc[data["value"].notna(), "quantity"])
    if not known:
        return Drawn(empty_figure(f"No measured cells on {tables.condition}."), data)
    data = data[data["quantity"].isin(known)].reset_index(drop=True)
    whose = _SENDER_ALONE if len(tables.sides) == 1 else ""
    return draw_over_size(tables, data, whose, [_WHY.get(cost.reason, "")])
