"""One implementation's values as another's times a number, with a little noise put on top."""

import itertools
import math
from collections.abc import Collection, Iterator

import numpy as np
import pandas as pd

from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import IMPLEMENTATION, REP, SIZE, THREADS
from copycost.stats.settings import FloatArray

_LEFT_OUT = frozenset({
    "duration", "bytes", "messages", "copied_share", "instructions", "instructions_per_byte",
    "instructions_per_message", "cpu_time",
})  # fmt: skip
"""What is set, follows from the program alone, or is what all CPUs can give."""

_LEAST_PAIRS = 8
_LEAST_SPREAD = 0.2
_QUIET = 0.0025
_SMALL_PART = 0.35
"""Of the noise within cells that the noise between implementations is, at most."""

_ANOTHER = 0.01
"""Two names of one program may differ by nothing; a factor further from 1 is another program's."""


def check_jitter(sample: Sample, explained: Collection[str]) -> Iterator[Finding]:
    """Yield implementations that keep to another's values more closely than noise lets them."""
    for name in sample.quantities:
        if name in _LEFT_OUT or name in explained or sample.relative_step(name) > 2 * _QUIET:
            continue
        known = sample.table[sample.table[name] > 0.0]
        if known.empty:
            continue
        wide = known.pivot(index=[SIZE, THREADS, REP], columns=IMPLEMENTATION, values=name)
        logs = np.log(wide.to_numpy(dtype=np.float64))
        within = _noise_within(wide.index.to_frame(index=False), logs)
        for first, second in itertools.combinations(range(logs.shape[1]), 2):
            names = (str(wide.columns[first]), str(wide.columns[second]))
            yield from _pair(sample, name, names, logs[:, [first, second]], within)


def _noise_within(index: pd.DataFrame, logs: FloatArray) -> float:
    """Return the usual spread within a cell, without what all cells of a round share."""
    frame = pd.DataFrame(logs)
    by_cell = [index[SIZE], index[THREADS]]
    rest = frame - frame.groupby(by_cell).transform("mean")
    shared = rest.groupby(index[REP]).transform("median").median(axis=1)
    rest = rest.sub(shared, axis=0)
    counts = frame.groupby(by_cell).transform("count")
    rest = (rest * np.sqrt(counts / (counts - 1.0))).where(counts > 1)
    values = rest.to_numpy(dtype=np.float64)
    values = values[np.isfinite(values)]
    return 1.4826 * float(np.median(np.abs(values))) if len(values) else math.nan


def _pair(
    sample: Sample, name: str, names: tuple[str, str], logs: FloatArray, within: float
) -> Iterator[Finding]:
    both = np.isfinite(logs).all(axis=1)
    if both.sum() < _LEAST_PAIRS or float(logs[both, 0].std()) < _LEAST_SPREAD:
        return
    ratio = logs[both, 1] - logs[both, 0]
    typical = float(np.median(ratio))
    width = float(np.sqrt(np.mean((ratio - typical) ** 2)))
    again = math.isfinite(within)
    less = width < _SMALL_PART * within if again else width < _QUIET
    if width >= 4.0 * _QUIET or not less or abs(typical) < _ANOTHER:
        return
    yield Finding(
        check="multiple",
        code="multiple_and_noise",
        kind=Kind.NO_MEASUREMENT if again else Kind.ODD,
        sureness=Sureness.VERY_LIKELY,
        dataset=sample.name,
        quantities=(name,),
        numbers={
            "implementation": names[1],
            "other": names[0],
            "factor": math.exp(typical),
            "width": max(width, 1e-6),
            "n_pairs": int(both.sum()),
            "within": within if again else None,
        },
    )
