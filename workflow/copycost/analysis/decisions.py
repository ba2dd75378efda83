"""The decision table of a condition: at each size the fastest and the cheapest, or the tie."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.finding import ANSWERS, NEXT_BEST, Finding, answers_of, tally
from copycost.analysis.json_values import Facts
from copycost.analysis.log_ratios import LogCube
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.analysis.ratio_facts import cell_counts, estimate_of
from copycost.analysis.stats.best import Told, find_best
from copycost.analysis.stats.ratios import holm, simultaneous_ratio
from copycost.analysis.stats.settings import FloatArray
from copycost.analysis.wire import MACHINES, priced

BITRATE = 10e9
"""Bitrate whose CPUs are told [bit/s]."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What implementations are compared by."""

    column: str
    """Of the table with a row per repetition."""
    quantity: str
    """The same in findings, whichever of the parties' columns it is."""
    more_is_better: bool = False
    unit: float = 1.0
    """Factor from the column's unit to the one that is told."""


@dataclass(frozen=True)
class Contest:
    """The implementations that were measured under one condition, and what compares them."""

    condition: str
    is_round_trip: bool
    implementations: tuple[str, ...]
    """In the order of the config, each with some measured repetition."""
    msg_bytes: tuple[int, ...]
    n_threads: tuple[int, ...]
    """Of the configured grid, like the sizes above, ascending."""
    cube: LogCube
    """What was measured."""
    speed: Scale
    price: Scale | None
    """What makes the cheapest one, as `speed` makes the fastest; None where none was counted."""
    confidence: float

    @property
    def baseline(self) -> str | None:
        """Return what ratios are to: two_copy where it was measured, else the first."""
        first = next(iter(self.implementations), None)
        return BASELINE if BASELINE in self.implementations else first

    @property
    def scales(self) -> dict[str, Scale]:
        """What the fastest and the cheapest are found by."""
        return {"fastest": self.speed} | ({"cheapest": self.price} if self.price else {})

    @cached_property
    def logs(self) -> dict[str, FloatArray]:
        """Logarithms, higher is better: (implementations, sizes, thread counts, rounds)."""
        cells = [*product(self.msg_bytes, self.n_threads)]
        shape = (len(self.implementations), len(self.msg_bytes), len(self.n_threads))
        found = {}
        for name, scale in self.scales.items():
            logs = self.cube.side_by_side(scale.column, self.implementations, cells)
            logs = logs.reshape((*shape, logs.shape[-1]))
            found[name] = logs if scale.more_is_better else -logs
        return found


def stream_decisions(view: View, peers: Mapping[str, Mapping[str, Any]]) -> Facts:
    """Return the decision table of a condition of the streams of messages; see `decision_facts`.

    Its price is the CPUs that `BITRATE` takes: of both sides, or of the only one; over the network
    to another machine, of both machines. Whose it is there, ``cpu_of`` tells; see
    `copycost.analysis.wire.priced`.
    """
    rows, cpu_of = priced(view.rows, view.condition.testbed, peers)
    view = replace(view, rows=rows)
    cpu_ns = MACHINES if cpu_of == "machines" else view.per_byte("cpu_ns")
    unit = BITRATE / 8.0 * 1e-9
    price = Scale(cpu_ns, "cpu_ns_per_byte", unit=unit) if view.counted(cpu_ns) else None
    return decision_facts(
        Contest(
            view.name,
            False,
            tuple(name for name in view.implementations if view.has(name)),
            view.msg_bytes,
            view.n_threads,
            view.cube,
            Scale(THROUGHPUT, THROUGHPUT, more_is_better=True),
            price,
            view.settings.confidence,
        )
    ) | {"cpu_of": cpu_of}


def decision_facts(contest: Contest) -> Facts:
    """Return the decision table of a condition, over all thread counts and for each of them.

    A row over all of them is of the mean of each round's logarithms; where these cannot be told
    together (see `are_together`), a size has a row per thread count.
    """
    threads = [*range(len(contest.n_threads))]
    rows = _rows(contest, threads)
    return {
        "baseline": contest.baseline,
        "ways": list(contest.implementations),
        "n_threads": list(contest.n_threads),
        "rows": rows,
        "answers": tally(answers_of({"rows": rows})),
        "by_threads": [
            {"n_threads": contest.n_threads[place], "rows": _rows(contest, [place])}
            for place in threads
        ],
    }


def _rows(contest: Contest, threads: Sequence[int]) -> list[Facts]:
    """Return the rows over these places of thread counts, in the order of the sizes.

    The best one is ``unsure`` where it does not stand after Holm's correction for all rows.
    """
    places: list[tuple[int, list[int]]] = []
    for size in range(len(contest.msg_bytes)):
        parts = [logs[:, size, threads] for logs in contest.logs.values()]
        whole = all(are_together(logs, contest.confidence) for logs in parts)
        places += [(size, [*threads])] if whole else [(size, [place]) for place in threads]
    told = {name: [_told(contest, name, *place) for place in places] for name in ANSWERS}
    for found in told.values():
        p_values = np.array([one[1] for one in found if one], dtype=np.float64)
        stands = iter(holm(p_values) < 1.0 - contest.confidence)
        for place, one in enumerate(found):
            if one and not next(stands) and one[0].verdict == Told.BEST:
                found[place] = replace(one[0], verdict="unsure"), one[1]
    rows: list[Facts] = []
    for (size, at), *answers in zip(places, *told.values(), strict=True):
        fastest, cheapest = (one[0] if one else None for one in answers)
        known = np.isfinite(contest.logs["fastest"][:, size, at].mean(axis=1)).any(axis=1)
        ways = zip(contest.implementations, known, strict=True)
        rows.append(
            {
                "msg_bytes": contest.msg_bytes[size],
                "n_threads": [contest.n_threads[place] for place in at],
                "missing": [name for name, is_known in ways if not is_known],
                "fastest": fastest,
                "cheapest": cheapest,
                "price": _paid(contest, cheapest),
            }
        )
    return rows


def _told(
    contest: Contest, question: str, size: int, threads: list[int]
) -> tuple[Finding, float] | None:
    """Return who is the best of one row, before any correction for the others, and the p-value.

    Its interval, if it is the best one's, is that by which it is better; else it allows for its
    having been picked. Of the baseline, which has no ratio, the reason is the next best.
    """
    if question not in contest.logs:
        return None
    rounds = contest.logs[question][:, size, threads].mean(axis=1)
    here = np.flatnonzero(np.isfinite(rounds).any(axis=1))
    if not len(here):
        return None
    best = find_best(rounds[here], contest.confidence)
    members = [int(here[place]) for place in best.members]
    names, scale = contest.implementations, contest.scales[question]
    found = Finding(
        question=question,
        condition=contest.condition,
        verdict=best.told.value,
        subject=" or ".join(names[place] for place in members),
        reference=contest.baseline or "",
        quantity=scale.quantity,
        is_round_trip=contest.is_round_trip,
        msg_bytes=(contest.msg_bytes[size],),
        n_threads=tuple(contest.n_threads[place] for place in threads),
        correction="Holm, over the condition",
    )
    if len(here) < 2 or contest.baseline is None:
        return found, best.p_value
    # how much higher each is than the baseline, as logarithms of which higher is better
    leads = rounds - rounds[names.index(contest.baseline)]

    def ratio(place: int, n_picked_from: int) -> Facts:
        signed = leads[place] if scale.more_is_better else -leads[place]
        return estimate_of(simultaneous_ratio(signed, n_picked_from, contest.confidence))

    others = [int(place) for place in here if names[place] != contest.baseline]
    named = [place for place in members if place in others]
    if named:
        # of a best one, the interval is that by which `find_best` decided
        n_picked_from = 1 if best.told is Told.BEST else len(here) - 1
        found = replace(found, **ratio(named[0], n_picked_from))
    elif known := [place for place in others if np.isfinite(leads[place]).any()]:
        place = max(known, key=lambda place: np.nanmean(leads[place]))
        second = ratio(place, len(others))
        next_best = replace(found, verdict=NEXT_BEST, subject=names[place], **second)
        found = replace(found, reasons=(next_best,))
    return found, best.p_value


def _paid(contest: Contest, cheapest: Finding | None) -> Facts | None:
    """Return what the cheapest one (the likeliest of several) costs, in the contest's unit.

    From the lowest to the highest median over the thread counts.
    """
    if cheapest is None or contest.price is None:
        return None
    logs = contest.cube.values(contest.price.column, cheapest.ways[0])
    cells = [(cheapest.msg_bytes[0], n) for n in cheapest.n_threads]
    medians = contest.price.unit * logs.reindex(cells).map(np.exp).median(axis=1).dropna()
    if medians.empty:
        return None  # measured beside other implementations only
    return {"low": float(medians.min()), "high": float(medians.max())}


def are_together(logs: FloatArray, confidence: float) -> bool:
    """Tell whether thread counts have one row: nothing lacks any of them, and none disagrees.

    They disagree where some are shown to be for one of the implementations that would be named of
    them together, and others for another. What those that are not named do among each other is not
    told, so it does not count. Shape of `logs`: (implementations, thread counts, rounds),
    logarithms, higher is better; NaN where there is none.
    """
    if logs.shape[1] < 2:
        return True
    rounds = logs.mean(axis=1)
    whole = np.isfinite(rounds).any(axis=1)
    if not np.array_equal(whole, np.isfinite(logs).any(axis=(1, 2))):
        return False
    if not whole.any():
        return True
    rounds, logs = rounds[whole], logs[whole]
    index = pd.RangeIndex(logs.shape[1], name="n_threads")
    return not any(
        cell_counts(pd.DataFrame(logs[member] - logs[other], index=index), confidence)["contradict"]
        for member in find_best(rounds, confidence).members
        for other in range(len(logs))
        if other != member
    )
