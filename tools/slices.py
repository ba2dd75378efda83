"""Find the length of slices, and whether turns tell what long windows and planted costs tell.

    PYTHONPATH=workflow python -m tools.slices lengths --starts 8
    PYTHONPATH=workflow python -m tools.slices windows --starts 8
    PYTHONPATH=workflow python -m tools.slices planted --tries 30
    PYTHONPATH=workflow python -m tools.slices same --tries 34 --starts 5
    PYTHONPATH=workflow python -m tools.slices round_trips --starts 10

Prints tables for docs/method.md. As root, on `veth`; needs results/bin and results/host.json.
"""

import argparse
import itertools
import math
import re
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from copycost.build.toolchain import compile_program
from copycost.config.cells import Cell
from copycost.config.settings import Settings
from copycost.config.testbeds import receives_on
from copycost.measure.drivers.programs.driver import Programs
from copycost.measure.drivers.programs.pair import SLICE_S, Pair
from copycost.measure.repetition import Task, measure_repetition
from copycost.records.derive import derive_row
from copycost.records.files import read_json
from copycost.stats.ratios import Ratio, paired_ratio
from copycost.studies.round_trips.table import derive_round_trips

BIN = Path("results/bin")
THROUGHPUT = "throughput_bits_per_s"
COST = "both_cpu_ns_per_byte"
SENDER_COST = "sender_cpu_ns_per_byte"
ROUND_TRIP = "p50_ns"
SIZES = (4096, 65536, 1048576)
REQUESTS = (64, 4096, 65536)
THREADS = (1, 4)
LENGTHS_S = (0.005, 0.01, 0.02, 0.05)


@dataclass(frozen=True)
class Found:
    """Rows of repetitions, and how long one took [s]."""

    rows: list[dict[str, Any]]
    each_s: float

    def logs(self, name: str) -> np.ndarray:
        """Return the logarithms of the ratios to the reference."""
        pairs = ((row[name], row[f"reference_{name}"]) for row in self.rows)
        return np.array([math.log(way / its) for way, its in pairs])

    def ratio(self, name: str) -> Ratio:
        """Return the ratio with its interval."""
        return paired_ratio(self.logs(name), 0.95)

    def median(self, name: str) -> float:
        """Return the median of a column."""
        return statistics.median(float(row[name]) for row in self.rows)


def measure(
    cell: Cell,
    n: int,
    *,
    slice_s: float | None = SLICE_S,
    seconds: tuple[float, float] = (0.1, 0.2),
    senders: tuple[Path, Path] | None = None,
) -> Found:
    """Measure repetitions in turns with two_copy, or of windows alone (`slice_s` None).

    Other programs may stand for either sender.
    """
    receiver = BIN / "receiver_recv" if receives_on(cell.testbed) else None
    paths = senders or (BIN / f"sender_{cell.strategy}", BIN / "sender_two_copy")
    way, beside = (Programs(path, receiver) for path in paths)
    driver = way if slice_s is None else Pair(way, beside, "two_copy", slice_s)
    asks = cell.study == "round_trips"
    row_of = derive_round_trips if asks else derive_row
    settings = Settings(
        *seconds, congestion_control="cubic", mode="request_response" if asks else "stream"
    )
    rows: list[dict[str, Any]] = []
    wall_s = 0.0
    for rep in range(1, n + 1):
        one = replace(cell, rep=rep)
        record = measure_repetition(Task(one, settings, read_json("results/host.json"), driver))
        wall_s += record["wall_s"]
        if record["status"] == "measured":
            rows.append(row_of(record))
    return Found(rows, wall_s / n)


def cells(*names: str) -> Iterator[Cell]:
    """Yield the cells that are tried."""
    for size, n_threads, name in itertools.product(SIZES, THREADS, names):
        yield Cell("streams", "veth", name, size, n_threads)


def lengths(starts: int) -> None:
    """Print how much repetitions scatter with slices of each length."""
    print(
        "| Slice | A/A throughput | A/A CPU | spread of throughput | of CPU time | of one second |"
    )
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for length_s in LENGTHS_S:
        found = {
            cell: measure(cell, starts, slice_s=length_s) for cell in cells("two_copy", "one_copy")
        }
        own = [one for cell, one in found.items() if cell.implementation == "two_copy"]
        sds = [
            [float(one.logs(name).std(ddof=1)) for one in found.values()]
            for name in (THROUGHPUT, COST)
        ]
        per_s = statistics.median(
            sd * math.sqrt(one.each_s) for sd, one in zip(sds[0], found.values(), strict=True)
        )
        even = [paired_ratio(np.concatenate([one.logs(name) for one in own]), 0.95)
                for name in (THROUGHPUT, COST)]  # fmt: skip
        print(
            f"| {length_s * 1e3:g} ms |",
            *(f"{one.value:.3f} ({one.low:.3f} to {one.high:.3f}) |" for one in even),
            *(f"{statistics.median(its):.3f} |" for its in sds),
            f"{per_s:.3f} |",
        )


def windows(starts: int) -> None:
    """Print where repetitions in turns and long windows, one after the other, differ."""
    print("| Way | Size | Threads | in turns | by windows of 1 s | absolute, to windows |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for size, n_threads in itertools.product(SIZES, THREADS):
        of = {
            name: measure(
                Cell("streams", "veth", name, size, n_threads),
                starts,
                slice_s=None,
                seconds=(0.3, 1.0),
            )
            for name in ("two_copy", "one_copy", "zero_copy")
        }
        for name in ("one_copy", "zero_copy"):
            turns = measure(Cell("streams", "veth", name, size, n_threads), starts)
            logs = [
                np.log([float(row[COST]) for row in of[way].rows]) for way in (name, "two_copy")
            ]
            n = min(map(len, logs))
            by_windows = paired_ratio(logs[0][:n] - logs[1][:n], 0.95)
            cost = turns.ratio(COST)
            print(
                f"| {name} | {size} | {n_threads} |",
                *(
                    f"{one.value:.3f} ({one.low:.3f} to {one.high:.3f}) |"
                    for one in (cost, by_windows)
                ),
                f"{turns.median(COST) / of[name].median(COST):.3f} |",
            )


def round_trips(starts: int) -> None:
    """Print how repetitions of round trips in turns scatter, and pairs of windows."""
    print("| Way | Size | Threads | in turns | spread | of windows | takes | two windows take |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for size, n_threads, name in itertools.product(REQUESTS, THREADS, ("two_copy", "one_copy")):
        cell = Cell("round_trips", "veth", name, size, n_threads)
        turns = measure(cell, starts)
        way, beside = (
            measure(replace(cell, implementation=one), starts, slice_s=None)
            for one in (name, "two_copy")
        )
        apart = [
            math.log(one[ROUND_TRIP] / other[ROUND_TRIP])
            for one, other in zip(way.rows, beside.rows, strict=False)
        ]
        found = turns.ratio(ROUND_TRIP)
        print(
            f"| {name} | {size} | {n_threads} |",
            f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f}) |",
            f"{turns.logs(ROUND_TRIP).std(ddof=1):.3f} | {np.std(apart, ddof=1):.3f} |",
            f"{turns.each_s:.2f} s | {way.each_s + beside.each_s:.2f} s |",
        )


def planted(tries: int, starts: int = 8) -> None:
    """Print how often a cost of the sender that was planted lies within the interval found.

    Both senders compute before each message, one of them longer: what else the computing costs,
    such as bytes that it pushes out of the caches, both of them pay.
    """
    print("| Where | planted | found (median) | tries whose interval holds it |")
    print("| --- | ---: | ---: | ---: |")
    for testbed, size in (("sink", 65507), ("veth", 65536)):
        cell = Cell("streams", testbed, "two_copy", size, 1)
        alone_ns = measure(cell, starts).median(SENDER_COST) * size
        for share in (0.02, 0.05, 0.10):
            more_ns = round(share * alone_ns)
            with tempfile.TemporaryDirectory() as name:
                senders = (
                    spinning(Path(name, "more"), _BASE_NS + more_ns),
                    spinning(Path(name, "less"), _BASE_NS),
                )
                found = [measure(cell, starts, senders=senders) for _ in range(tries)]
            held, values = 0, []
            for one in found:
                its = statistics.median(float(row[f"reference_{SENDER_COST}"]) for row in one.rows)
                truth = 1 + more_ns / (its * size)
                ratio = one.ratio(SENDER_COST)
                held += ratio.low <= truth <= ratio.high
                values.append(ratio.value / truth)
            middle = statistics.median(values)
            print(
                f"| {testbed} | {share:.0%} | {middle:.4f} of it | {held} of {tries} |", flush=True
            )


def same(tries: int, starts: int = 5) -> None:
    """Print in how many cells of two_copy beside itself an interval of 95 % does not hold 1."""
    print("| Of | cells | differ | all of them together |")
    print("| --- | ---: | ---: | ---: |")
    found = [measure(cell, starts) for _ in range(tries) for cell in cells("two_copy")]
    for name in (THROUGHPUT, COST):
        ratios = [one.ratio(name) for one in found]
        differ = sum(not one.low <= 1.0 <= one.high for one in ratios)
        even = paired_ratio(np.concatenate([one.logs(name) for one in found]), 0.95)
        print(
            f"| {name} | {len(found)} | {differ} |",
            f"{even.value:.4f} ({even.low:.4f} to {even.high:.4f}) |",
        )


_BASE_NS = 200
_SPIN = """\
    const uint64_t until_ns = clock_now_ns() + {ns};
    while (clock_now_ns() < until_ns) {{
    }}
"""


def spinning(folder: Path, ns: int) -> Path:
    """Compile a two_copy that computes for so long, and a little, before each message [ns]."""
    shutil.copytree("src", folder / "src")
    path = folder / "src/strategies/two_copy.c"
    begin = re.compile(r"(static int two_copy_send_messages\(.*\)\n{\n)")
    text = begin.sub(lambda it: it[0] + _SPIN.format(ns=ns), path.read_text())
    path.write_text(f'#include "clock.h"\n{text}')
    program = folder / "sender_two_copy"
    compile_program("sender", "two_copy", program, root=folder)
    return program


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("lengths", "windows", "planted", "same", "round_trips"))
    parser.add_argument("--starts", type=int, default=8)
    parser.add_argument("--tries", type=int, default=30)
    options = parser.parse_args(arguments)
    if options.what in ("planted", "same"):
        of_tries = planted if options.what == "planted" else same
        of_tries(options.tries, options.starts)
    else:
        of = {"lengths": lengths, "windows": windows, "round_trips": round_trips}
        of[options.what](options.starts)


if __name__ == "__main__":
    main()
