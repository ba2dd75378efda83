"""Host and method: settings, caches, the testbeds."""

import re

from tools.recompute.told import Expected, Slot, Told, says


@says("run for <time> to warm up, and then for a window of <time>")
def _windows(told: Told, *_: Slot) -> Expected:
    measure = told.run.config["measure"]
    return [measure["warmup_s"], measure["duration_s"]]


@says("in shuffled order (seed <n>)")
def _seed(told: Told, _n: int) -> Expected:
    return [told.run.config["measure"]["order_seed"]]


@says("Resampling draws <n> times, with the seed <n>")
def _resampling(told: Told, *_: Slot) -> Expected:
    statistics = told.run.config["statistics"]
    return [statistics["resamples"], statistics["seed"]]


@says("with its <p> interval", "with <p> intervals", "bars their <p> intervals")
@says("The <p> intervals are of one ratio each", "its own <p> interval lies")
def _confidence(told: Told, _p: str) -> Expected:
    return [told.run.settings.confidence]


@says("an L1 data cache of <size>, an L2 cache of <size> and a last-level cache of <size>")
def _caches(told: Told, *_: Slot) -> Expected:
    caches = told.run.host["cpu"]["caches"]
    return [caches["l1d_bytes"], caches["l2_bytes"], caches["llc_bytes"]]


@says("Its MTU is <n> bytes")
def _mtu(told: Told, _n: int) -> Expected:
    testbed = re.findall(r"^`(\w+)`:", told.sentence.before)[0]
    rows = told.run.streams
    return [rows[rows["testbed"] == testbed]["mtu_bytes"].max()]
