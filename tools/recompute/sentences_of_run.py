"""More sentences: on the run as a whole, the ranking, round trips, placement and rates."""

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd

from tools.recompute import estimates
from tools.recompute.estimates import Estimate
from tools.recompute.report_tables import floor
from tools.recompute.run import THROUGHPUT
from tools.recompute.sentences import Expected, NotRecomputedError, Slot, Told, says
from tools.recompute.slots import read

_DISTURBANCES = ("foreign_load", "steal", "throttled", "window_edge_late")
_WARNINGS = {
    "other programs used CPUs": "foreign_load",
    "the hypervisor took CPU time away": "steal",
    "the CPU lowered its clock": "throttled",
    "an edge of the window came late": "window_edge_late",
    "few messages fell into the window": "few_messages",
    "another measurement on this host had to be waited for": "lock_waited",
}


# Settings and the host


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


@says("was timed over working sets from <size> to <size>, source and destination together")
def _timed(told: Told, *_: Slot) -> Expected:
    points = told.run.memory["floor"]["points"]
    return [points[0]["bytes"], points[-1]["bytes"]]


@says("the path takes packets of up to <size>")
def _packets(told: Told, _size: int) -> Expected:
    return [told.run.measured(told.condition)["mtu_bytes"].max()]


@says("TSO and GSO were on in <p> of the repetitions")
def _offloaded(told: Told, _p: str) -> Expected:
    return [told.run.measured(told.condition)["offloaded"].astype(float).mean()]


@says("the largest message and its copy are <about>")
@says("the largest message and its copy (<about>)")
def _largest(told: Told, _size: str) -> Expected:
    return [2 * told.run.measured(told.condition)["msg_bytes"].max()]


@says("walk a ring of messages, <size> in all, which is <x> times the last-level cache")
def _ring(told: Told, *_: Slot) -> Expected:
    ring = told.run.measured(told.condition)["ring_bytes"].max()
    return [ring, ring / told.run.host["cpu"]["caches"]["llc_bytes"]]


@says("The ring of messages is <x> times the last-level cache")
def _ring_again(told: Told, *_: Slot) -> Expected:
    return _ring(told)[1:]


# Warnings


def _rows(told: Told) -> pd.DataFrame:
    """Return the measured repetitions that a sentence counts: of its condition, or all."""
    section = told.sentence.section
    rows = told.run.round_trips if section.startswith("sec-round-trips") else told.run.streams
    if section.startswith("sec-round-trips") or section.endswith("-quality"):
        rows = rows[rows["condition"] == told.condition]
    return rows[rows["status"] == "measured"]


def _with_warning(rows: pd.DataFrame, *codes: str) -> int:
    return sum(not set(codes).isdisjoint(text.split(";")) for text in rows["warned"])


@says("Of <n> repetitions, <n> came with a warning that the machine was disturbed")
def _disturbed(told: Told, *_: Slot) -> Expected:
    rows = _rows(told)
    return [len(rows), _with_warning(rows, *_DISTURBANCES)]


@says("<n> repetitions of <n> came with a warning that the machine was disturbed")
@says("<n> repetition of <n> came with a warning that the machine was disturbed")
def _disturbed_trips(told: Told, *_: Slot) -> Expected:
    return _disturbed(told)[::-1]


@says("<n> repetitions of the <n> that compare implementations over sizes and threads carried")
def _warned(told: Told, *_: Slot) -> Expected:
    rows = _rows(told)
    return [int((rows["warned"] != "").sum()), len(rows)]


def _says_warnings() -> None:
    for words, code in _WARNINGS.items():

        @says(f"{words} (<n>)")
        def _count(told: Told, _n: int, code: str = code) -> Expected:
            return [_with_warning(_rows(told), code)]


_says_warnings()


@says("Of <n> measured cells")
def _cells(told: Told, _n: int) -> Expected:
    return [len(_rows(told).groupby(["implementation", "msg_bytes", "n_threads"]))]


@says("over the cells together, the last had <x> times that of the first")
def _drift(told: Told, _x: str) -> Expected:
    path = _path(told)
    return [float(path[-1])]


# The ranking


@says("At <size> with <threads>, <impl> has the lowest median, <x> ns per byte")
def _cheapest(told: Told, size: int, threads: Slot, *_: Slot) -> Expected:
    cost, name = min(
        (told.run.median(told.condition, name, (size, threads[0]), _time(told)).value, name)
        for name in told.run.implementations(told.condition)
    )
    assert f"`{name}` has the lowest" in told.sentence.text, f"it is {name}"
    return [None, None, None, cost]


def _time(told: Told) -> str:
    return f"{told.run.side(told.condition)}_cpu_ns_per_byte"


@says("That is <x> times a plain copy in <cache> (working set of <size>)")
def _over_floor(told: Told, *_: Slot) -> Expected:
    ranked = r"At ([\d.,]+ \w+) with (\d+) threads?, `(\w+)` has"
    size, threads, name = re.findall(ranked, told.sentence.before)[-1]
    cell = (read("size", size), int(threads))
    cost, works_on = floor(told.run, told.condition, cell[0])
    median = told.run.median(told.condition, name, cell, _time(told)).value
    return [median / cost, None, works_on]


# Round trips, and what placement does


def _trips(told: Told, name: str, metric: str) -> Iterator[tuple[int, Estimate]]:
    """Yield the ratio of an implementation's round trips to those of two_copy, size by size."""
    rows = _rows(told)
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
    names = set(_rows(told)["implementation"]) - {"two_copy"}
    metrics = [f"round_trip_{name}_ns" for name in ("p50", "p90", "p99", "p999")]
    ratios = [one for name in names for metric in metrics for _, one in _trips(told, name, metric)]
    return [sum(one.n > 1 for one in ratios)]


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
    metric = "round_trip_p50_ns" if trips else THROUGHPUT
    rows = rows[(rows["status"] == "measured") & (rows["working_set"] == "hot")]
    key = ["testbed", "implementation", "msg_bytes", "n_threads", "receiver", "rep"]
    wide = rows.pivot(index=key, columns="placement", values=metric).astype(float)
    logs = np.log(wide[placement] / wide["apart"]).dropna()
    return [told.run.ratio(here) for _, here in logs.groupby(level=key[:-1])]


# How often, and what else explains a difference


def _where_different(told: Told, metric: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the logarithms of both sides of the difference that is explained, cell by cell."""
    cells, a, b = told.differing()
    sides = [told.run.of(told.condition, name, metric).reindex(cells) for name in (a, b)]
    whole = estimates.block(sides[0] - sides[1])
    here, there = (side.loc[whole.index, whole.columns] for side in sides)
    return here, there


def _rate(told: Told, metric: str) -> Expected:
    here, there = _where_different(told, metric)
    one = told.run.pooled(here - there)
    means = (float(np.exp(side.to_numpy(float).mean())) for side in (here, there))
    return [*means, one.value, one]


@says("It made <x> system calls per message, compared with <x>: <x> times as many <i>")
def _calls(told: Told, *_: Slot) -> Expected:
    return _rate(told, "sender_syscalls_per_message")


@says("It had <x> context switches per message, compared with <x>: <x> times as many <i>")
def _switches(told: Told, *_: Slot) -> Expected:
    return _rate(told, "context_switches_per_message")


@says(
    "A byte took <x> times as many instructions <i>, and an instruction <x> times as much CPU "
    "time <i>"
)
def _instructions(told: Told, *_: Slot) -> Expected:
    if not told.sentence.section.endswith("q1"):
        raise NotRecomputedError("it is of other cells")
    side = told.run.side(told.condition)
    counts = _where_different(told, f"{side}_instructions_per_byte")
    times = _where_different(told, f"{side}_cpu_ns_per_byte")
    many = told.run.pooled(counts[0] - counts[1])
    slow = told.run.pooled((times[0] - counts[0]) - (times[1] - counts[1]))
    return [many.value, many, slow.value, slow]


@says("In a single cell, they were fewest with about <x> times, at <size> with <threads>")
def _fewest_misses(told: Told, *_: Slot) -> Expected:
    name, level = _deepest(told)
    cells = told.run.cells(told.condition, name, "two_copy", told.run.metric(told.condition, level))
    size, threads = min(cells, key=lambda cell: cells[cell].value)
    return [cells[size, threads].value, size, (threads,)]


def _deepest(told: Told) -> tuple[str, str]:
    """Return who misses least of which cache, over the cells together: the first that is told."""
    found = re.findall(
        r"With `(\w+)`, the (misses of the (?:L1 data|last-level) cache)", told.sentence.before
    )
    return str(found[0][0]), str(found[0][1])


@says("relative to `two_copy` were <x> times what they were where both fit <i>")
@says("relative to `two_copy` were <x> times what they were below it <i>")
def _beyond_cache(told: Told, *_: Slot) -> Expected:
    one = _beyond(told)
    return [one.value, one]


@says("together exceed the L1 data cache is left open <i>")
def _beyond_cache_open(told: Told, _i: str) -> Expected:
    return [_beyond(told)]


def _beyond(told: Told) -> Estimate:
    metric = told.run.metric(told.condition, "misses of the L1 data cache")
    logs = told.run.pair(told.condition, "one_copy", "two_copy", metric).dropna()
    cache = told.run.host["cpu"]["caches"]["l1d_bytes"]
    beyond = 2 * logs.index.get_level_values("msg_bytes") > cache
    return told.run.ratio(logs[beyond].mean() - logs[~beyond].mean())


@says("together, <x> segments per gigabyte were sent again")
@says("with `two_copy` and `one_copy`, <x> per gigabyte were sent again")
def _sent_again(told: Told, _x: str) -> Expected:
    rows = told.run.measured(told.condition)
    rows = rows[rows["implementation"].isin(["two_copy", "one_copy"])]
    return [rows["tcp_retransmits"].sum() / rows["received_bytes"].sum() * 1e9]


def _side_effects(told: Told) -> list[float]:
    """Return what each side's CPU time by itself makes of the throughput.

    A side's part of the change of a sum's logarithm is its own change over the logarithmic mean.
    """
    if not told.sentence.section.endswith("q1"):
        raise NotRecomputedError("it is of other cells")
    _cells, a, b = told.differing()
    logs = _where_different(told, _time(told))
    here, there = (np.exp(one.to_numpy(float)) for one in logs)
    mean = (here - there) / np.log(here / there)
    effects = []
    for side in ("sender", "receiver"):
        metric = f"{side}_cpu_ns_per_byte"
        of_side = [
            np.exp(told.run.of(told.condition, name, metric).reindex_like(logs[0]).to_numpy(float))
            for name in (a, b)
        ]
        effects.append(float(np.exp(-((of_side[0] - of_side[1]) / mean).mean())))
    return effects


@says("makes the throughput <x> times as high at the sender, and <x> times as high at the receiver")
def _by_side(told: Told, *_: Slot) -> Expected:
    return _side_effects(told)


@says("It was slower than <impl> in <n> of <n> cells")
def _slower_than_one(told: Told, b: str, *_: Slot) -> Expected:
    signs = [one.seen for one in told.run.cells(told.condition, "zero_copy", b).values()]
    return [None, signs.count(-1), len(signs)]


@says("<impl> was faster than <impl> in <n> of <n> cells (<sizes>, <threads>)")
@says("<impl> was faster than <impl> in <n> of <n> cells (<size>, <threads>)")
def _won_somewhere(told: Told, a: str, b: str, *_: Slot) -> Expected:
    cells = told.run.cells(told.condition, a, b)
    won = [cell for cell, one in cells.items() if one.seen == 1]
    sizes, threads = (tuple(sorted(set(values))) for values in zip(*won, strict=True))
    said = sizes if isinstance(_[2], tuple) else sizes[0]
    return [None, None, len(won), len(cells), said, threads]


@says("Over the cells together, no difference in <cost> per byte was seen <i>")
def _cost_pooled_even(told: Told, cost: str, _i: str) -> Expected:
    logs = told.run.pair(told.condition, *told.pair, told.run.metric(told.condition, cost))
    return [None, told.run.pooled(logs)]


@says("Over the cells together, it took <x> times the <cost> per byte of `two_copy` <i>")
def _cost_pooled(told: Told, _x: str, cost: str, _i: str) -> Expected:
    one = _cost_pooled_even(told, cost, "")[1]
    return [one.value, None, one]


# The path, the caches, what failed


@says("Its MTU is <n> bytes")
def _mtu(told: Told, _n: int) -> Expected:
    testbed = re.findall(r"^`(\w+)`:", told.sentence.before)[0]
    rows = told.run.streams
    return [rows[rows["testbed"] == testbed]["mtu_bytes"].max()]


@says("(<x> times its <size>)", "(<p> of its <size>)", "(<p> of its <size> for <threads>)")
def _of_cache(told: Told, _share: str, size: int, threads: Slot = (1,)) -> Expected:
    assert size in told.run.host["cpu"]["caches"].values(), "no cache is that large"
    both = 2 * int(told.run.measured(told.condition)["msg_bytes"].max()) * threads[0]
    return [both / size, None, None]


@says("Of <n> repetitions, <n> failed", "Of <n> repetitions, <n> failed and <n> were skipped")
def _failed(told: Told, *said: int) -> Expected:
    rows = told.run.streams
    if told.condition:
        rows = rows[rows["condition"] == told.condition]
    status = list(rows["status"])
    return [len(status), status.count("failed"), status.count("skipped")][: len(said)]


@says("All <n> repetitions came with a warning that the machine was disturbed")
def _all_disturbed(told: Told, _n: int) -> Expected:
    return _disturbed(told)[1:]


@says("Of the <n> repetitions behind this, <n> carried a warning")
def _behind_this(told: Told, *_: Slot) -> Expected:
    rows = told.run.streams[told.run.streams["status"] == "measured"]
    return [len(rows), int((rows["warned"] != "").sum())]


@says("the rounds had <x> to <x> times the throughput of the first")
def _rounds_apart(told: Told, *_: Slot) -> Expected:
    path = _path(told)
    return [float(path.min()), float(path.max())]


def _path(told: Told) -> np.ndarray:
    """Return the throughput of each round over that of the first, cells together."""
    whole = estimates.block(told.run.values(told.condition, THROUGHPUT)).sort_index(axis=1)
    logs = whole.to_numpy(float)
    path: np.ndarray = np.exp((logs - logs[:, :1]).mean(axis=0))
    return path
