"""Whether repetitions in turns tell what is known: no difference, or a planted cost.

    PYTHONPATH=workflow python -m tools.slices planted --tries 30
    PYTHONPATH=workflow python -m tools.slices same --tries 34 --starts 5

Prints tables for docs/method.md. As root, on `veth`; needs results/bin and results/host.json.
"""

import argparse
import itertools
import math
import re
import shutil
import statistics
import tempfile
from collections.abc import Sequence
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

BIN = Path("results/bin")
THROUGHPUT = "throughput_bits_per_s"
COST = "both_cpu_ns_per_byte"
SENDER_COST = "sender_cpu_ns_per_byte"
SIZES = (4096, 65536, 1048576)
THREADS = (1, 4)


@dataclass(frozen=True)
class Found:
    """Rows of repetitions in turns with two_copy."""

    rows: list[dict[str, Any]]

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


def measure(cell: Cell, n: int, senders: tuple[Path, Path] | None = None) -> Found:
    """Measure repetitions; other programs may stand for either sender."""
    receiver = BIN / "receiver_recv" if receives_on(cell.testbed) else None
    paths = senders or (BIN / f"sender_{cell.strategy}", BIN / "sender_two_copy")
    way, beside = (Programs(path, receiver) for path in paths)
    driver = Pair(way, beside, "two_copy", SLICE_S)
    settings, host = Settings(0.1, 0.2, congestion_control="cubic"), read_json("results/host.json")
    tasks = (Task(replace(cell, rep=rep), settings, host, driver) for rep in range(1, n + 1))
    records = map(measure_repetition, tasks)
    return Found([derive_row(record) for record in records if record["status"] == "measured"])


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
                found = [measure(cell, starts, senders) for _ in range(tries)]
            held, values = 0, []
            for one in found:
                truth = 1 + more_ns / (one.median(f"reference_{SENDER_COST}") * size)
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
    cells = [Cell("streams", "veth", "two_copy", *key) for key in itertools.product(SIZES, THREADS)]
    found = [measure(cell, starts) for _ in range(tries) for cell in cells]
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
    parser.add_argument("what", choices=("planted", "same"))
    parser.add_argument("--starts", type=int, default=8)
    parser.add_argument("--tries", type=int, default=30)
    options = parser.parse_args(arguments)
    (planted if options.what == "planted" else same)(options.tries, options.starts)


if __name__ == "__main__":
    main()
