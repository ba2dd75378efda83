"""Over the wire: the link, who pays for a byte, what was lost."""

import re

import pandas as pd

from tools.recompute import estimates
from tools.recompute.slots import whole
from tools.recompute.told import Expected, Slot, Told, says, says_opposed
from tools.recompute.wire import (
    MACHINES,
    PER_TRIP,
    SIDES,
    link_speed,
    of_the_limit,
    of_the_link,
    parts,
    peer_of,
)

_PROCESSES = "both_cpu_ns_per_byte"
_CAUSES = {
    "received damaged or refused by the device": "device_rx_errors",
    "not taken from the device in time": "device_rx_dropped",
    "received while the device had no room": "device_rx_fifo_errors",
    "the device could not send": "device_tx_errors",
    "dropped before the device": "device_tx_dropped",
    "to be sent while the device had no room": "device_tx_fifo_errors",
    "to be sent without a link": "device_tx_carrier_errors",
    "dropped by a queue of the kernel": "softnet_dropped",
}


@says("A link of <rate> carries <rate> of messages at an MTU of <n> bytes")
def _carries(told: Told, *_: Slot) -> Expected:
    cells = of_the_link(told.run, told.condition)
    rows = told.run.measured(told.condition)
    speed, _ip = link_speed(told.run, told.condition)
    return [speed, cells["carried"].max(), int(rows["mtu_bytes"].median())]


def _points(cells: pd.DataFrame) -> tuple[int, int, int]:
    """Return at how many sizes and threads all ways are limited, and only some, and of how many."""
    shares = [rows["limited"].mean() for _, rows in cells.groupby(["msg_bytes", "n_threads"])]
    return sum(one == 1.0 for one in shares), sum(0.0 < one < 1.0 for one in shares), len(shares)


def _sizes_of(cells: pd.DataFrame, said: Slot) -> Expected:
    every = [int(str(size)) for size, rows in cells.groupby("msg_bytes") if rows["limited"].all()]
    return [every if isinstance(said, tuple) else every[0]]


@says(
    "At <n> of <n> combinations of size and threads, the receiver got at least <p> of that with "
    "every way to send"
)
def _limited(told: Told, *_: Slot) -> Expected:
    every, _some, n = _points(of_the_link(told.run, told.condition))
    return [every, n, None]


@says(
    "At <n> of <n> combinations of size and threads, some ways reached <p> of what the link carries"
)
def _limited_some(told: Told, *_: Slot) -> Expected:
    _every, some, n = _points(of_the_link(told.run, told.condition))
    return [some, n, None]


@says("the link sets the throughput of every way to send at <n> of <n> combinations")
def _sets(told: Told, *_: Slot) -> Expected:
    return _limited(told)[:2]


@says(
    "At <sizes> that is so with every number of threads",
    "At <size> that is so with every number of threads",
)
def _sizes(told: Told, said: Slot) -> Expected:
    return _sizes_of(of_the_link(told.run, told.condition), said)


@says(
    "of the <rate> of messages that a link of <rate> carries at an MTU of <n> bytes, "
    "the receiver got <p> at most"
)
def _not_limited(told: Told, *_: Slot) -> Expected:
    speed, carried, mtu = _carries(told)
    return [carried, speed, mtu, of_the_link(told.run, told.condition)["share"].max()]


@says("The devices tell of a link of <rate>, but in one cell a receiver got <p> of what")
def _exceeded(told: Told, *_: Slot) -> Expected:
    speed, _ip = link_speed(told.run, told.condition)
    peer = peer_of(told.condition)
    alike = [one for one in told.run.conditions if peer_of(one) == peer]
    measured = [one for one in alike if len(told.run.measured(one))]
    return [speed, max(of_the_link(told.run, one)["share"].max() for one in measured)]


def _allowed(told: Told) -> list[float]:
    cells = of_the_limit(told.run, told.condition)["rate_limit_bits_per_s"]
    return [float(cells.min()), float(cells.max())]


@says("The sender was allowed <rate> to <rate> of messages")
def _span_allowed(told: Told, *_: Slot) -> Expected:
    return _allowed(told)


@says("The sender was allowed <rate> of messages")
def _one_allowed(told: Told, *_: Slot) -> Expected:
    return _allowed(told)[:1]


@says("and sent <p> of that at most: this limit held it in no cell")
def _held_nowhere(told: Told, *_: Slot) -> Expected:
    return [of_the_limit(told.run, told.condition)["share"].max()]


@says(
    "At <n> of <n> combinations of size and threads, it sent at least <p> of that with every way to"
    " send"
)
def _held(told: Told, *_: Slot) -> Expected:
    every, _some, n = _points(of_the_limit(told.run, told.condition))
    return [every, n, None]


@says(
    "At <n> of <n> combinations of size and threads, some ways reached <p> of what they were "
    "allowed"
)
def _held_some(told: Told, *_: Slot) -> Expected:
    _every, some, n = _points(of_the_limit(told.run, told.condition))
    return [some, n, None]


@says("(`wire.udp_mbit_per_s`) sets the throughput of every way to send at <n> of <n> combinations")
def _limit_sets(told: Told, *_: Slot) -> Expected:
    return _held(told)[:2]


@says(
    "At <sizes> it held the sender with every number of threads",
    "At <size> it held the sender with every number of threads",
)
def _sizes_held(told: Told, said: Slot) -> Expected:
    return _sizes_of(of_the_limit(told.run, told.condition), said)


@says("Of the datagrams sent, <p> did not arrive")
def _not_arrived(told: Told, *_: Slot) -> Expected:
    rows = told.run.measured(told.condition)
    return [float(rows["datagrams_lost"].sum() / rows["datagrams_sent"].sum())]


@says("By its completions, the kernel copied <p> of what <impl> sent")
def _copied(told: Told, _p: Slot, name: str) -> Expected:
    rows = told.run.measured(told.condition)
    rows = rows[rows["implementation"] == name]
    return [float(rows["zc_copied"].sum() / rows["zc_completed"].sum()), None]


def _wide(rows: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    """Return the values that there are in every round of a cell: a row per cell."""
    return estimates.block(
        rows.assign(value=values).pivot(
            index=["implementation", "msg_bytes", "n_threads"], columns="rep", values="value"
        )
    )


def _mean(rows: pd.DataFrame, shares: pd.Series) -> float:
    return float(_wide(rows, shares).mean().mean())


def _says_part(words: str) -> None:
    @says(f"{words} (<p>)")
    def _share(told: Told, _p: Slot) -> Expected:
        rows = told.run.measured(told.condition)
        return [_mean(rows, parts(rows)[words] / rows[MACHINES].astype(float))]


for _words in (
    "the sending process",
    "the rest of its machine",
    "the receiving process",
    "the rest of that machine",
):
    _says_part(_words)


@says("the rest of that machine (<p>); mean over the cells in <n> rounds")
def _last_part(told: Told, *_: Slot) -> Expected:
    rows = told.run.measured(told.condition)
    shares = parts(rows)["the rest of that machine"] / rows[MACHINES].astype(float)
    return [_mean(rows, shares), len(_wide(rows, shares).columns)]


@says(
    "Interrupts and softirqs are <p> of the CPU time of the sender's machine and <p> of that of "
    "the receiver's"
)
def _softirqs(told: Told, *_: Slot) -> Expected:
    rows = told.run.measured(told.condition)
    return [
        _mean(
            rows,
            rows[f"{side}_machine_softirq_cpu_ns_per_byte"].astype(float)
            / rows[f"{side}_machine_cpu_ns_per_byte"].astype(float),
        )
        for side in ("sender", "receiver")
    ]


@says("In <n> of <n> repetitions other programs used CPUs of a machine")
def _others(told: Told, *_: Slot) -> Expected:
    rows = told.run.measured(told.condition)
    return [int(rows["warned"].str.contains("foreign_load").sum()), len(rows)]


def _pooled(told: Told, name: str, metric: str) -> Expected:
    logs = told.run.pair(told.condition, name, "two_copy", metric)
    return [told.run.pooled(logs), logs]


@says(
    "Over <n> cells together, a byte took the two machines <x> times as much CPU time with <impl> "
    "as with <impl> <i>"
)
def _machines(told: Told, _n: Slot, _x: Slot, name: str, *_: Slot) -> Expected:
    found, logs = _pooled(told, name, MACHINES)
    return [len(logs), found.value, None, None, found]


@says(
    "A byte took the two processes alone <x> times as much CPU time with <impl> as with <impl> <i>"
)
def _processes(told: Told, _x: Slot, name: str, *_: Slot) -> Expected:
    found, _logs = _pooled(told, name, _PROCESSES)
    return [found.value, None, None, found]


@says_opposed(
    "With <impl>, a byte took the two machines more CPU time than with <impl>", less="less"
)
def _machines_contradict(told: Told, name: str, *_: Slot) -> pd.DataFrame:
    return told.run.pair(told.condition, name, "two_copy", MACHINES)


@says_opposed(
    "With <impl>, a byte took the two processes more CPU time than with <impl>", less="less"
)
def _processes_contradict(told: Told, name: str, *_: Slot) -> pd.DataFrame:
    return told.run.pair(told.condition, name, "two_copy", _PROCESSES)


@says("The sender sent <x> segments per gigabyte again")
def _again(told: Told, *_: Slot) -> Expected:
    rows = told.run.measured(told.condition)
    return [float(rows["tcp_retransmits"].sum() / rows["received_bytes"].sum() * 1e9)]


@says(
    "Per gigabyte, the sender sent <x> segments again with <impl>, the fewest, and <x> with <impl>"
)
def _again_by_way(told: Told, *_: Slot) -> Expected:
    rows = told.run.measured(told.condition)
    sums = rows.groupby("implementation")[["tcp_retransmits", "received_bytes"]].sum()
    found = sums["tcp_retransmits"] / sums["received_bytes"] * 1e9
    return [found.min(), found.idxmin(), found.max(), found.idxmax()]


def _says_dropped(words: str, column: str) -> None:
    @says(f"<n> packets {words}", f"<n> packet {words}")
    def _dropped(told: Told, said: Slot) -> Expected:
        before = re.split(re.escape(words), told.sentence.text)[0]
        side = re.findall(r"At the (sender|receiver):", f"{told.sentence.before} {before}")[-1]
        return [int(told.run.measured(told.condition)[f"{side}_{column}"].sum())]


for _words, _column in _CAUSES.items():
    _says_dropped(_words, _column)


@says("How far the clocks are apart was known to <times> at worst, <p> of a window")
def _clocks(told: Told, *_: Slot) -> Expected:
    rows = told.run.measured(told.condition)
    unsure_s = rows["clock_uncertainty_ns"] * 1e-9
    return [(unsure_s.max(),) * 2, float((unsure_s / rows["window_s"]).max())]


def _trips(told: Told, metric: str) -> tuple[float, float]:
    """Return the median of that cell of round trips that was named last."""
    said = re.findall(
        r"A round trip of ([\d.]+ [KM]?i?B) with `(\w+)` and (\d+) thread",
        f"{told.sentence.before} {told.sentence.text}",
    )
    size, name, threads = said[-1]
    rows = told.run.round_trips
    here = rows[
        (rows["condition"] == told.condition)
        & (rows["status"] == "measured")
        & (rows["implementation"] == name)
        & (rows["msg_bytes"] == told.run.size(size))
        & (rows["n_threads"] == whole(threads))
    ]
    return (told.run.median_of(here[metric]).value * 1e-9,) * 2


@says("A round trip of <size> with <impl> and <threads> took <times> (median)")
def _round_trip(told: Told, *_: Slot) -> Expected:
    return [None, None, None, _trips(told, "p50_ns")]


@says("One in a hundred took more than <times>")
def _tail(told: Told, *_: Slot) -> Expected:
    return [_trips(told, "p99_ns")]


@says(
    "It took the sender's machine <times> of CPU time, of that <times> in interrupts and softirqs, "
    "and the receiver's <times>, of that <times>"
)
def _trip_costs(told: Told, *_: Slot) -> Expected:
    names = [f"{side}_machine{kind}_{PER_TRIP}" for side in SIDES for kind in ("", "_softirq")]
    return [_trips(told, name) for name in names]
