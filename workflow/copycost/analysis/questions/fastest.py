"""Question 1: where zero-copy was the fastest, and where not."""

from copycost.analysis.condition_view import View
from copycost.analysis.crossovers import records, sign_of
from copycost.analysis.decomposition import explain_pair
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.analysis.quantities import ONE, ZERO, first_rival

_RIVALS = (BASELINE, ONE)


def fastest_facts(view: View) -> Facts:
    """Return in how many cells zero_copy beat, or lost to, the copying implementations.

    Keys
    ----
    verdict
        ``everywhere`` (beat every rival in every cell of the grid), ``somewhere``, ``nowhere``
        (lost to a rival in every cell of the grid), ``not_shown`` (never seen ahead, but not
        beaten everywhere either), ``not_measured``.
    rivals
        The copying implementations that were measured.
    n_won, n_lost, n_open
        Cells in which it beat all rivals, lost to at least one, or neither can be said.
    n_compared, n_cells
        Cells compared with every rival, of those in the grid.
    slower, faster
        The cells where less, and more, throughput than the first rival's stands (see
        `View.standing`): n_cells, and explained (what the difference consists of there, see
        `copycost.analysis.decomposition`); None where there is no such cell. Their intervals do not
        allow for the choice of the cells, so no text has them.
    """
    rivals = [name for name in _RIVALS if view.has(name)] if view.has(ZERO) else []
    signs: dict[tuple[int, int], list[int]] = {}
    once = False
    for rival in rivals:
        for row in records(view.verdicts(THROUGHPUT, ZERO, rival)):
            if row["n_pairs"]:
                once = once or row["n_pairs"] == 1
                cell = (int(row["msg_bytes"]), int(row["n_threads"]))
                signs.setdefault(cell, []).append(sign_of(row))
    compared = {cell: found for cell, found in signs.items() if len(found) == len(rivals)}
    n_won = sum(min(found) > 0 for found in compared.values())
    n_lost = sum(min(found) < 0 for found in compared.values())
    n_cells = len(view.msg_bytes) * len(view.n_threads)
    return {
        "verdict": _verdict(len(compared), n_cells, n_won, n_lost),
        "observed_once": once,
        "rivals": rivals,
        "n_cells": n_cells,
        "n_compared": len(compared),
        "n_won": n_won,
        "n_lost": n_lost,
        "n_open": len(compared) - n_won - n_lost,
        "slower": _why(view, -1),
        "faster": _why(view, 1),
    }


def _why(view: View, sign: int) -> Facts | None:
    """Return what explains the cells in which zero_copy differs from its first rival that way."""
    rival = first_rival(view)
    cells = view.standing(ZERO, rival, sign)
    if not cells:
        return None
    return {
        "n_cells": len(cells),
        "explained": explain_pair(view, ZERO, rival, cells),
    }


def _verdict(n_compared: int, n_cells: int, n_won: int, n_lost: int) -> str:
    if n_compared == 0:
        return "not_measured"
    if n_won == n_cells:
        return "everywhere"
    if n_won:
        return "somewhere"
    return "nowhere" if n_lost == n_cells else "not_shown"
