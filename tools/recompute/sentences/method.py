"""Host and method: settings, caches, the testbeds."""

import re

import pandas as pd

from tools.recompute.told import Expected, Slot, Told, says


@says("run for <time> to warm up, and then send for <time>, which is the window")
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
@says("with the <p> interval in brackets", "with <p> certainty", "a difference at <p> after")
@says("The <p> intervals are of one ratio each", "its own <p> interval lies")
def _confidence(told: Told, _p: str) -> Expected:
    return [told.run.settings.confidence]


@says("an L1 data cache of <size>, an L2 cache of <size> and a last-level cache of <size>")
def _caches(told: Told, *_: Slot) -> Expected:
    caches = told.run.host["cpu"]["caches"]
    return [caches["l1d_bytes"], caches["l2_bytes"], caches["llc_bytes"]]


@says("Its MTU is <n> bytes")
def _mtu(told: Told, _n: int) -> Expected:
    testbed = re.findall(r"^`([\w-]+)`:", told.sentence.before)[0]
    rows = told.run.streams
    return [rows[rows["testbed"] == testbed]["mtu_bytes"].max()]


@says("<size> (messages of <sizes>)", "<size> (messages of <size>)")
def _wakes_at(told: Told, _size: int, messages: Slot) -> Expected:
    rows = told.run.streams.dropna(subset=["receive_lowat_bytes"])
    sizes = messages if isinstance(messages, tuple) else (messages,)
    here = rows[rows["msg_bytes"].isin(sizes)]["receive_lowat_bytes"]
    assert here.nunique() == 1, "they differ"
    alike = rows[rows["receive_lowat_bytes"] == here.iloc[0]]["msg_bytes"]
    same = tuple(sorted({int(size) for size in alike}))
    return [int(here.iloc[0]), same if isinstance(messages, tuple) else same[0]]


@says("takes <size> at most")
def _reads(told: Told, _size: int) -> Expected:
    return [int(told.run.streams["read_bytes"].max())]


@says("sizes between were measured too, behind the others: <n> cells")
def _between(told: Told, _n: int) -> Expected:
    rows = told.run.streams
    grid = {name: told.run.sizes(name) for name in told.run.conditions}
    added = [
        size not in grid[name]
        for name, size in zip(rows["condition"], rows["msg_bytes"], strict=True)
    ]
    cells = rows[added][["condition", "implementation", "msg_bytes", "n_threads"]]
    return [len(cells.drop_duplicates())]


_PLACED = {"on one CPU": "same", "the scheduler": "free"}


def _cpus(told: Told, side: str) -> str:
    """Return the CPUs that a side's threads were pinned to, in the placement of the sentence."""
    (cpus,) = _all_cpus(told, side)
    return cpus


def _all_cpus(told: Told, side: str) -> set[str]:
    """Return the same where they differ, as they do between testbeds within one machine and two."""
    words = [word for word in _PLACED if word in told.sentence.text]
    placement = _PLACED[words[0]] if words else "apart"
    tables = (told.run.streams, told.run.round_trips)
    rows = pd.concat([one[one["placement"] == placement] for one in tables if not one.empty])
    return {", ".join(map(str, one)) for one in rows[f"cpus_of_{side}"] if one}


@says(
    "the sender's threads were pinned to CPUs <cpus>, the receiver's to CPUs <cpus>",
    "the sender's could run on CPUs <cpus>, the receiver's on CPUs <cpus>",
)
def _pinned(told: Told, *_: Slot) -> Expected:
    return [_cpus(told, "sender"), _cpus(told, "receiver")]


@says(
    "the sender's threads were pinned to CPUs <cpus>, the receiver's to CPUs <cpus> or CPUs <cpus>"
)
def _pinned_in_two_ways(told: Told, _sender: str, first: str, second: str) -> Expected:
    right = {first, second} == _all_cpus(told, "receiver")
    return [_cpus(told, "sender"), *((first, second) if right else ("no", "no"))]


@says("the threads of both sides were pinned to CPUs <cpus>")
def _pinned_alike(told: Told, _cpus_: str) -> Expected:
    return [_cpus(told, "sender") if _cpus(told, "sender") == _cpus(told, "receiver") else "no"]
