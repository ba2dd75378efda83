"""What cells along the sizes say of a crossover, per dataset and number of threads."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from copycost.analysis.stats.crossover import Crossover, Outcome, crossover_of_rounds
from copycost.compare.audit.claims.cell_p_values import N_SHOWN, NO_PAIRS, CellValues, Measured
from copycost.compare.audit.claims.rulings import Ruling, Survey
from copycost.compare.audit.claims.statements import Claim, Crossing
from copycost.compare.audit.dataset import STATISTICS
from copycost.wording.filters import size as told
from copycost.wording.words import plural


def judge_crossing(crossing: Crossing, claim: Claim, measured: Measured) -> Survey:
    """Return what each comparison along the sizes says: one per dataset and thread count.

    The confidence of each is such that they are all right together, so that what they say needs no
    further correction.
    """
    cells = measured[crossing.metric]
    better, worse = map(measured.known_name, (crossing.implementation, crossing.baseline))
    crossing = replace(crossing, implementation=better, baseline=worse)
    if not {better, worse} <= cells.implementations:
        return Survey(reason=NO_PAIRS)
    places = [(area.dataset, n, area.sizes) for area in cells.areas(claim) for n in area.threads]
    confidence = 1.0 - (1.0 - STATISTICS.confidence) / max(len(places), 1)
    found = [(n, _judge_along_sizes(crossing, cells, dataset, n, sizes, confidence))
             for dataset, n, sizes in places]  # fmt: skip
    gaps = [f"{plural(n, 'thread')}: not measured" for n, ruling in found if ruling is None]
    rulings = tuple(ruling for _, ruling in found if ruling is not None)
    return Survey(rulings, len(places), tuple(gaps[:N_SHOWN]))


def _judge_along_sizes(
    crossing: Crossing, cells: CellValues, dataset: str, n: int, sizes: Sequence[int],
    confidence: float,
) -> Ruling | None:  # fmt: skip
    ways = (crossing.implementation, crossing.baseline)
    logs = {}
    for n_bytes in sizes:
        key, other = ((dataset, way, n_bytes, n) for way in ways)
        if key in cells.rounds and other in cells.rounds:
            log_ratios = cells.log_ratios(key, other)
            logs[n_bytes] = log_ratios if crossing.more_is_better else -log_ratios
    found = crossover_of_rounds(logs, sizes, confidence)
    if found.outcome is Outcome.NOT_MEASURED:
        return None
    below, above = _bracket(crossing, found)
    size = crossing.msg_bytes
    # Each end of a bracket is on the side that it shows.
    is_allowed = below < size <= above if crossing.is_from else below <= size < above
    is_inside = is_allowed and bool(found.changes)
    # Where the claimed size is no end of the bracket, or a size in it is open, the claim says of
    # sizes, of which none was measured, on which side of the change they lie.
    is_open = any(below < other < above for other in (*found.sizes, *found.missing))
    holds = is_inside and size in (below, above) and not is_open
    return Ruling(
        p_for=float(not holds),
        p_against=float(is_allowed),
        evidence=partial(_said_along_sizes, crossing, found, n),
        once=found.observed_once,
        keys=tuple((dataset, way, size, n) for size in found.sizes for way in ways),
        incomplete=bool(found.missing) and not holds,
        compatible=is_inside and not holds and not found.missing,
    )


def _bracket(crossing: Crossing, found: Crossover) -> tuple[float, float]:
    """Return the sizes between which the change lies that is claimed; infinity where none does.

    Where one is better, or worse, throughout, it is before the first size or behind the last.
    """
    before, behind = (0.0, float(found.sizes[0])), (float(found.sizes[-1]), math.inf)
    always, never = (before, behind) if crossing.is_from else (behind, before)
    if found.outcome is (Outcome.FROM if crossing.is_from else Outcome.UP_TO):
        return found.changes[0].below_bytes, found.changes[0].above_bytes
    brackets = {Outcome.ALWAYS: always, Outcome.NEVER: never, Outcome.UNDECIDED: (0.0, math.inf)}
    return brackets.get(found.outcome, (math.inf, math.inf))


def _said_along_sizes(crossing: Crossing, found: Crossover, n: int) -> str:
    """Return a line on how the two compare along the sizes, with some number of threads."""
    better, worse = crossing.implementation, crossing.baseline
    ends = [told(n) for change in found.changes for n in (change.below_bytes, change.above_bytes)]
    below, above = ends[:2] or ("", "")
    said = {
        Outcome.FROM: f"worse at {below}, better from {above} on",
        Outcome.UP_TO: f"better up to {below}, worse from {above} on",
        Outcome.ALWAYS: f"{better} better than {worse} at all sizes",
        Outcome.NEVER: f"{better} worse than {worse} at all sizes",
        Outcome.MIXED: f"{better} and {worse} change places {len(found.changes)} times",
    }
    unsure = f"no one change of sign is sure, {told(found.sizes[0])} to {told(found.sizes[-1])}"
    return f"{plural(n, 'thread')}: {said.get(found.outcome, unsure)}"
