"""Round trips."""

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd

from tools.recompute.estimates import Estimate
from tools.recompute.told import Expected, NotRecomputedError, Slot, Told, says


def _trips(told: Told, name: str, metric: str) -> Iterator[tuple[int, int, Estimate]]:
    """Yield the ratio of an implementation's round trips to those of two_copy.

    By size and number of threads.
    """
    rows = told.rows
    for (size, threads), here in rows.groupby(["msg_bytes", "n_threads"]):
        if metric in here:
            wide = here.pivot(index="rep", columns="implementation", values=metric).astype(float)
            ratios = pd.Series(np.log(wide[name] / wide["two_copy"]))
            yield int(str(size)), int(str(threads)), told.run.ratio(ratios)


_TRIPS = {"the median round trip": "round_trip_p50_ns", "the 99th percentile": "round_trip_p99_ns"}


@says("With <impl> and <threads>, <trip> showed no difference from `two_copy` at <sizes>")
def _trips_alike(told: Told, name: str, threads: Slot, trip: str, *_: Slot) -> Expected:
    ratios = _trips(told, name, _TRIPS[trip])
    even = (size for size, n, one in ratios if (n,) == threads and one.n > 1 and one.sign == 0)
    return [None, None, None, tuple(even)]


@says("<x> at <size> <i>")
def _trip_apart(told: Told, _x: str, size: int, _i: str) -> Expected:
    found = re.findall(
        r"With `(\w+)` and (\d+) threads?, (the [\w ]+?) was this many times as long",
        told.sentence.text,
    )
    if not found:
        raise NotRecomputedError("it is no ratio of round trips")
    name, threads, trip = found[-1]
    ratios = _trips(told, name, _TRIPS[trip])
    one = next(one for at, n, one in ratios if (at, n) == (size, int(threads)))
    return [one.value, None, one]


@says("Of <n> ratios with an interval, over all percentiles and sizes")
def _trip_ratios(told: Told, _n: int) -> Expected:
    names = set(told.rows["implementation"]) - {"two_copy"}
    metrics = [f"round_trip_{name}_ns" for name in ("p50", "p90", "p99", "p999")]
    ratios = [
        one for name in names for metric in metrics for _, _, one in _trips(told, name, metric)
    ]
    return [sum(one.n > 1 for one in ratios)]
