"""Question 3: what more threads change."""

import re

import pandas as pd

from tools.recompute.estimates import Estimate
from tools.recompute.run import THROUGHPUT
from tools.recompute.told import Expected, Slot, Told, says


@says(
    "Over the sizes together, throughput with <threads> as a multiple of that with <threads> was "
    "<x> for <impl> <i>"
)
def _along_threads(told: Told, most: Slot, fewest: Slot, _x: str, name: str, _i: str) -> Expected:
    one = told.run.pooled(told.run.threads(told.condition, name, THROUGHPUT))
    counts = sorted(set(told.run.measured(told.condition)["n_threads"]))
    return [(counts[-1],), (counts[0],), one.value, None, one]


@says("<x> for <impl> <i>")
def _along_threads_too(told: Told, _x: str, name: str, _i: str) -> Expected:
    metric = THROUGHPUT
    if sends := re.search("|".join(_SENDS), told.sentence.text):
        metric = _SENDS[sends[0]]
    if "That is over the implementations together" in told.sentence.text:
        grown = rf"{'|'.join(_GROWTH)}|misses of the [\w-]+(?: data)? cache per byte"
        found = re.findall(grown, told.sentence.before)
        metric = _GROWTH.get(found[-1]) or told.run.metric(told.condition, found[-1])
    one = told.run.pooled(told.run.threads(told.condition, name, metric))
    return [one.value, None, one]


_SENDS = {
    "the median send": "service_median_ns",
    "the 99th percentile of sends": "service_p99_ns",
}
_GROWTH = {"context switches per message": "context_switches_per_message"}


def _growth_of(told: Told, what: str) -> Estimate:
    run = told.run
    metric = _GROWTH.get(what) or run.metric(told.condition, what)
    names = run.implementations(told.condition)
    return run.pooled(pd.concat([run.threads(told.condition, name, metric) for name in names]))


@says("From the fewest threads to the most, <grown> did not grow but came to <x> times <i>")
@says("From the fewest threads to the most, <grown> grew to <x> times <i>")
def _growth(told: Told, what: str, *_: Slot) -> Expected:
    one = _growth_of(told, what)
    return [None, one.value, one]


@says("No difference in <grown> was seen between the fewest threads and the most <i>")
def _no_growth(told: Told, what: str, _i: str) -> Expected:
    return [None, _growth_of(told, what)]
