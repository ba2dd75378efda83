"""Round trips."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tools.recompute.estimates import Estimate
from tools.recompute.told import Expected, Slot, Told, says


def _trips(told: Told, name: str, metric: str) -> Iterator[tuple[int, Estimate]]:
    """Yield the ratio of an implementation's round trips to those of two_copy, size by size."""
    rows = told.rows
    for size, here in rows.groupby("msg_bytes"):
        if metric in here:
            wide = here.pivot(index="rep", columns="implementation", values=metric).astype(float)
            ratios = pd.Series(np.log(wide[name] / wide["two_copy"]))
            yield int(str(size)), told.run.ratio(ratios)


_TRIPS = {"the median round trip": "round_trip_p50_ns", "the 99th percentile": "round_trip_p99_ns"}


@says("With <impl>, <trip> showed no difference from `two_copy` at <sizes>")
def _trips_alike(told: Told, name: str, trip: str, *_: Slot) -> Expected:
    ratios = _trips(told, name, _TRIPS[trip])
    return [None, None, tuple(size for size, one in ratios if one.n > 1 and one.sign == 0)]


@says("Of <n> ratios with an interval, over all percentiles and sizes")
def _trip_ratios(told: Told, _n: int) -> Expected:
    names = set(told.rows["implementation"]) - {"two_copy"}
    metrics = [f"round_trip_{name}_ns" for name in ("p50", "p90", "p99", "p999")]
    ratios = [one for name in names for metric in metrics for _, one in _trips(told, name, metric)]
    return [sum(one.n > 1 for one in ratios)]
