"""The numbers of the summary's five sentences."""

from copycost.analysis.condition_view import View
from copycost.analysis.crossovers import records
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.analysis.quantities import ONE, ZERO
from copycost.analysis.ratio_facts import ratio_facts

# An interval whose ends are further apart than this leaves open which cell is the fastest.
_VAGUE_FACTOR = 3.0


def headline_facts(view: View) -> Facts:
    """Return the fastest cell, and what a byte cost with each implementation.

    Keys
    ----
    fastest
        The cell with the highest median throughput, with its cost per byte; without an interval,
        since that of a cell that was picked for its height would not hold the truth.
    cost
        What a byte cost in one cell that all of two_copy, one_copy and zero_copy have (the
        largest message with the fewest threads): per implementation the median, and the ratio to
        two_copy.
    """
    return {"fastest": _fastest(view), "cost": _cost(view)}


def _fastest(view: View) -> Facts | None:
    rows = records(view.medians(THROUGHPUT))
    if not rows:
        return None
    best = max(rows, key=lambda row: row["median"])
    cell = {name: best[name] for name in ("implementation", "msg_bytes", "n_threads")}
    costs = [
        row["median"]
        for row in records(view.medians(view.cost_column))
        if all(row[name] == value for name, value in cell.items())
    ]
    return cell | {
        "throughput_bits_per_s": best["median"],
        "once": best["n"] == 1,
        "vague": best["n"] > 1 and best["high"] > _VAGUE_FACTOR * best["low"],
        "cost_per_byte": costs[0] if costs else None,
    }


def _cost(view: View) -> Facts | None:
    """Choose the largest message: there a byte's cost is that of copying, not of the call."""
    names = [name for name in (BASELINE, ONE, ZERO) if view.has(name)]
    rows = records(view.medians(view.cost_column))
    by_cell: dict[tuple[int, int], dict[str, float]] = {}
    for row in rows:
        if row["implementation"] in names:
            cell = (-row["msg_bytes"], row["n_threads"])
            by_cell.setdefault(cell, {})[row["implementation"]] = row["median"]
    complete = [cell for cell in sorted(by_cell) if len(by_cell[cell]) == len(names)]
    if not complete:
        return None
    cell = complete[0]
    msg_bytes, n_threads = -cell[0], cell[1]
    costs = by_cell[cell]
    return {
        "msg_bytes": msg_bytes,
        "n_threads": n_threads,
        "implementations": [
            {
                "implementation": name,
                "median": costs[name],
                "ratio": _ratio(view, name, msg_bytes, n_threads),
            }
            for name in names
        ],
    }


def _ratio(view: View, name: str, msg_bytes: int, n_threads: int) -> Facts | None:
    if name == BASELINE or not view.has(BASELINE):
        return None
    logs = view.logs(view.cost_column, name, BASELINE)
    if (msg_bytes, n_threads) not in logs.index:
        return None
    found = view.pooled(logs.loc[[(msg_bytes, n_threads)]])
    return ratio_facts(found) if found.n_pairs else None
