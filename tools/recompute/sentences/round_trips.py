"""Round trips."""

import re
from collections.abc import Iterator

import pandas as pd

from tools.recompute.estimates import Estimate
from tools.recompute.run import pair_of, relative_of
from tools.recompute.told import Expected, NotRecomputedError, Slot, Told, says


def trips_of(told: Told, name: str, metric: str) -> Iterator[tuple[int, int, Estimate]]:
    """Yield the ratio of an implementation's round trips to those of two_copy.

    By size and number of threads.
    """
    if metric in told.rows:
        ratios = pair_of(relative_of(told.rows, metric), name, "two_copy")
        for (size, threads), logs in zip(ratios.index, ratios.to_numpy(), strict=True):
            yield int(size), int(threads), told.run.ratio(pd.Series(logs))


_TRIPS = {"the median round trip": "p50_ns", "the 99th percentile": "p99_ns"}


@says("With <impl> and <threads>, <trip> showed no difference from `two_copy` at <sizes>")
def _trips_alike(told: Told, name: str, threads: Slot, trip: str, *_: Slot) -> Expected:
    ratios = trips_of(told, name, _TRIPS[trip])
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
    ratios = trips_of(told, name, _TRIPS[trip])
    one = next(one for at, n, one in ratios if (at, n) == (size, int(threads)))
    return [one.value, None, one]


@says("With <impl> and <threads>, <trip> was this many times as long")
def _trips_apart(told: Told, _a: str, threads: Slot, _trip: str) -> Expected:
    measured = set(told.rows["n_threads"])
    return [None, threads if set(threads) <= measured else (), None]


@says("No difference was seen at <sizes>", "No difference was seen at <size>")
def _other_sizes(told: Told, said: Slot) -> Expected:
    found = re.findall(
        r"With `(\w+)` and (\d+) threads?, (the [\w ]+?) was this many times as long",
        told.sentence.before,
    )
    if not found:
        raise NotRecomputedError("it is not of round trips")
    name, threads, trip = found[-1]
    ratios = trips_of(told, name, _TRIPS[trip])
    here = [(size, one) for size, n, one in ratios if n == int(threads)]
    # what was observed once is told as such
    even = tuple(size for size, one in here if one.n > 1 and one.sign == 0)
    return [even if isinstance(said, tuple) else even[0]]


@says(
    "A round trip took the two processes <times> of CPU time, as their own kernels count it, "
    "and the hypervisors <times> outside"
)
def _in_guests(told: Told, *_: Slot) -> Expected:
    rows = told.rows
    outside = [f"{side}_hypervisor_cpu_ns_per_byte" for side in ("sender", "receiver")]
    of_byte = rows.reindex(columns=outside).astype(float).fillna(0.0).sum(axis=1)
    costs = pd.DataFrame(
        {
            "inside": rows["sender_cpu_ns"] + rows["receiver_cpu_ns"],
            "outside": of_byte * rows["received_bytes"],
        }
    )
    trips = costs.div(rows["samples"], axis=0) * 1e-9
    cells = trips.groupby([rows["implementation"], rows["msg_bytes"], rows["n_threads"]]).median()
    return [(cells[name].min(), cells[name].max()) for name in ("inside", "outside")]


def _all_ratios(told: Told) -> list[Estimate]:
    names = set(told.rows["implementation"]) - {"two_copy"}
    metrics = [f"{name}_ns" for name in ("p50", "p90", "p99", "p999")]
    ratios = [
        one for name in names for metric in metrics for _, _, one in trips_of(told, name, metric)
    ]
    return [one for one in ratios if one.n > 1]


@says("Of <n> ratios with an interval, over all percentiles and sizes")
def _trip_ratios(told: Told, _n: int) -> Expected:
    return [len(_all_ratios(told))]


@says(
    "Of <n> ratios with an interval, over all percentiles and sizes, <n> stand after Holm",
    "Of <n> ratios with an interval, over all percentiles and sizes, <n> stands after Holm",
)
def _trip_ratios_stand(told: Told, *_: Slot) -> Expected:
    ratios = _all_ratios(told)
    return [len(ratios), told.run.corrected(dict(enumerate(ratios)))]
