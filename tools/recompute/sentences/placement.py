"""What placement does."""

import re

import numpy as np

from tools.recompute.estimates import Estimate
from tools.recompute.run import THROUGHPUT
from tools.recompute.told import Expected, Slot, Told, says


@says("as with the ends apart: <x> <i>", "that with the ends apart: <x> <i>")
def _placed(told: Told, *_: Slot) -> Expected:
    found = _placement_ratios(told)
    return [found[0].value, found[0]] if len(found) == 1 else [float("nan"), found[0]]


@says("as with the ends apart: <x> to <x>", "that with the ends apart: <x> to <x>")
def _placed_span(told: Told, *_: Slot) -> Expected:
    values = [one.value for one in _placement_ratios(told)]
    return [min(values), max(values)]


def _placement_ratios(told: Told) -> list[Estimate]:
    placement = re.findall(r"\(`(\w+)`\)", told.sentence.text)[-1]
    trips = "round trip" in told.sentence.text
    rows = told.run.round_trips if trips else told.run.streams
    metric = "p50_ns" if trips else THROUGHPUT
    rows = rows[(rows["status"] == "measured") & (rows["working_set"] == "hot")]
    key = ["testbed", "implementation", "msg_bytes", "n_threads", "receiver", "rep"]
    wide = rows.pivot(index=key, columns="placement", values=metric).astype(float)
    logs = np.log(wide[placement] / wide["apart"]).dropna()
    return [told.run.ratio(here) for _, here in logs.groupby(level=key[:-1])]
