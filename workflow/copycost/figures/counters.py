"""Figure: cache misses per byte and context switches per message against message size."""

from collections.abc import Sequence

import pandas as pd

from copycost.analysis.metrics import counted_share
from copycost.figures.layout import groups_of
from copycost.figures.over_size import draw_over_size
from copycost.figures.style import styled
from copycost.figures.tables import Drawn, Quantity, Tables, points
from copycost.figures.text import empty_figure
from copycost.perf.events import EVENTS, MISS_LEVELS

_SWITCHES = "context_switches"
_QUANTITIES = {
    **{name: Quantity(EVENTS[name].level or name, "per byte") for name in MISS_LEVELS},
    _SWITCHES: Quantity("context switches", "per message"),
}
_COUNTERS_MOST = 3


@styled
def draw(tables: Tables) -> Drawn:
    """Draw every counter that was counted, both sides together; the note names the others."""
    measured = tables.cells[tables.cells["status"] == "measured"]
    side = tables.sides[-1]
    # a run may do without switches, not without misses
    found = [event for event in MISS_LEVELS if counted_share(measured, _column(event, side)) > 0]
    if measured[_column(_SWITCHES, side)].notna().any():
        found.append(_SWITCHES)
    data = points(tables, {_column(event, side): _QUANTITIES[event] for event in found})
    if not found:
        reason = _absence(measured, found, tables.sides)
        return Drawn(empty_figure(reason or f"No measured cells on {tables.condition}."), data)
    if len(groups_of(data)) > 1 and len(found) > _COUNTERS_MOST:
        # The cache misses of perf's generic event are those of the last level.
        data = data[data["quantity"] != _QUANTITIES["cache_misses"].name]
    whose = "Sender and receiver together."
    if len(tables.sides) == 1:
        whose = "The sender alone, since there is no receiver."
    user_only = measured["user_mode_only"].fillna(False).astype(bool).any()
    user_mode = "Counted in user mode only." if user_only else ""
    return draw_over_size(tables, data, whose, [_absence(measured, found, tables.sides), user_mode])


def _column(event: str, side: str) -> str:
    return f"{event}_per_message" if event == _SWITCHES else f"{side}_{event}_per_byte"


def _absence(measured: pd.DataFrame, found: Sequence[str], sides: Sequence[str]) -> str:
    """Return the sentence that says which counters were not counted, and perf's word for why."""
    if measured.empty:
        return ""
    parts = []
    for event, quantity in _QUANTITIES.items():
        if event not in found:
            names = [f"{side}_{event}_status" for side in sides if side != "both"]
            said = pd.concat([measured[name] for name in names]).dropna().mode()
            why = "no status" if said.empty else str(said.iloc[0]).replace("_", " ")
            parts.append(f"{quantity.name} ({'read 0' if why == 'counted' else why})")
    return f"Not counted on this host: {', '.join(parts)}." if parts else ""
