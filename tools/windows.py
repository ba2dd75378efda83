"""How long a window must be, and how many rounds the time buys.

    PYTHONPATH=workflow python -m tools.windows measure --rounds 5 results/windows.csv
    PYTHONPATH=workflow python -m tools.windows page results/windows.csv > docs/windows.md

The first measures every cell of a small grid with several warm-ups and windows, a round of all of
them after the other, shuffled within the round. The second compares each of them with the longest,
paired by round, and says what rounds of that length decide in a given time. Needs the programs and
the host facts of a run (`snakemake --cores 1 measure`), and about 15 minutes.
"""

import argparse
import csv
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from copycost.records.derive import derive_row
from copycost.stats.ratios import holm, paired_ratio, t_quantile
from copycost.wording.sizes import format_size

#: Warm-up and window of each setting [s]. With the last one TCP's slow start and the autotuning of
#: its buffers are long over: it is what the others are compared with.
SETTINGS = ((0.05, 0.1), (0.1, 0.2), (0.1, 0.3), (0.2, 1.0), (1.0, 1.0))

_IMPLEMENTATIONS = ("two_copy", "one_copy", "zero_copy")
_SIZES = (256, 4096, 65536, 1048576)
_THREADS = (1, 4)
_CELL = ["implementation", "msg_bytes", "n_threads"]
_QUANTITIES = {
    "throughput_bits_per_s": "throughput",
    "both_cpu_ns_per_byte": "CPU time per byte",
}
_CONFIDENCE = 0.95
_MEASURED = 0


@dataclass(frozen=True, slots=True)
class _Point:
    """One repetition: a cell, a setting, its round, and what came out."""

    implementation: str
    msg_bytes: int
    n_threads: int
    warmup_s: float
    window_s: float
    round: int
    throughput_bits_per_s: float
    both_cpu_ns_per_byte: float
    warnings: str


def measure(rounds: int, seed: int) -> Iterator[_Point]:
    """Yield every repetition; those of a round in an order of their own."""
    shuffled = random.Random(seed)
    for number in range(1, rounds + 1):
        runs = list(product(_IMPLEMENTATIONS, _SIZES, _THREADS, SETTINGS))
        shuffled.shuffle(runs)
        for implementation, msg_bytes, n_threads, (warmup_s, window_s) in runs:
            row = _row(implementation, msg_bytes, n_threads, warmup_s, window_s)
            if row is not None:
                yield _Point(
                    implementation,
                    msg_bytes,
                    n_threads,
                    warmup_s,
                    window_s,
                    number,
                    float(row["throughput_bits_per_s"]),  # type: ignore[arg-type]
                    float(row["both_cpu_ns_per_byte"]),  # type: ignore[arg-type]
                    str(row["warnings"] or ""),
                )


def _row(
    implementation: str, msg_bytes: int, n_threads: int, warmup_s: float, window_s: float
) -> dict[str, object] | None:
    """Measure one repetition by the command that measures a cell by hand; None if it failed."""
    command = [sys.executable, "-m", "copycost.measure", implementation]
    command += ["--msg-bytes", str(msg_bytes), "--threads", str(n_threads)]
    command += ["--warmup", str(warmup_s), "--duration", str(window_s)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != _MEASURED:
        print(f"left out: {' '.join(command[3:])}: {done.stderr.strip()}", file=sys.stderr)
        return None
    return derive_row(json.loads(done.stdout))


def shifts(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Return how far each setting moves a quantity from what the longest one gives.

    One row per setting and cell: the ratio with its interval, and whether the cell stands out of
    its setting's family (Holm).
    """
    logs = np.log(table.set_index([*_CELL, "round", "warmup_s", "window_s"])[quantity])
    reference = logs.xs(SETTINGS[-1], level=("warmup_s", "window_s"))
    rows = []
    for setting in SETTINGS[:-1]:
        ratios = logs.xs(setting, level=("warmup_s", "window_s")) - reference
        for cell, values in ratios.groupby(level=_CELL):
            found = paired_ratio(values.to_numpy(np.float64), _CONFIDENCE)
            rows.append((*setting, *cell, found.n_pairs, found.value, found.p_value))
    shifted = pd.DataFrame(
        rows, columns=["warmup_s", "window_s", *_CELL, "n_rounds", "ratio", "p_value"]
    )
    groups = shifted.groupby(["warmup_s", "window_s"], sort=False)
    shifted["p_holm"] = groups["p_value"].transform(
        lambda values: holm(values.to_numpy(np.float64))
    )
    return shifted


def spreads(table: pd.DataFrame) -> pd.DataFrame:
    """Return the spread over the rounds of each way's log throughput ratio to two_copy."""
    logs = np.log(
        table.set_index(
            ["msg_bytes", "n_threads", "warmup_s", "window_s", "round", "implementation"]
        )["throughput_bits_per_s"]
    ).unstack("implementation")
    ratios = logs.drop(columns=_IMPLEMENTATIONS[0]).sub(logs[_IMPLEMENTATIONS[0]], axis=0).stack()
    keys = ["warmup_s", "window_s", "msg_bytes", "n_threads", "implementation"]
    found: pd.DataFrame = ratios.groupby(level=keys).std(ddof=1).rename("spread").reset_index()
    return found


def page(table: pd.DataFrame, overhead_s: float, seconds: float) -> Iterator[str]:
    """Yield the lines of the page."""
    n_rounds = int(table["round"].max())
    n_cells = len(table[_CELL].drop_duplicates())
    yield _INTRODUCTION.format(
        n_rounds=n_rounds, n_cells=n_cells, warmup=SETTINGS[-1][0], window=SETTINGS[-1][1]
    )
    for quantity, words in _QUANTITIES.items():
        yield f"## Does a short window shift the {words}?\n"
        yield "| Warm-up | Window | Median ratio | Interval | Median shift | Cells shifted |"
        yield "| ---: | ---: | ---: | ---: | ---: | ---: |"
        found = shifts(table, quantity)
        for warmup_s, window_s in SETTINGS[:-1]:
            rows = found[(found["warmup_s"] == warmup_s) & (found["window_s"] == window_s)]
            over_cells = paired_ratio(np.log(rows["ratio"].to_numpy(np.float64)), _CONFIDENCE)
            moved = rows[rows["p_holm"] < 1.0 - _CONFIDENCE]
            yield (
                f"| {warmup_s} s | {window_s} s | {rows['ratio'].median():.3f} "
                f"| {over_cells.low:.3f} to {over_cells.high:.3f} "
                f"| {np.abs(np.log(rows['ratio'])).median():.1%} | {_cells(moved)} |"
            )
        yield ""
    yield _BOUGHT.format(seconds=seconds, overhead_s=overhead_s)
    yield "| Warm-up | Window | Rounds | Spread of a round | Half width expected |"
    yield "| ---: | ---: | ---: | ---: | ---: |"
    found = spreads(table)
    for warmup_s, window_s in SETTINGS:
        rows = found[(found["warmup_s"] == warmup_s) & (found["window_s"] == window_s)]
        bought = int(seconds / (warmup_s + window_s + overhead_s))
        spread = float(rows["spread"].median())
        yield (
            f"| {warmup_s} s | {window_s} s | {bought} | {spread:.3f} "
            f"| {_half_width(spread, bought):.3f} |"
        )


def _cells(rows: pd.DataFrame) -> str:
    """Return how many cells, and the one that is furthest off."""
    if rows.empty:
        return "none"
    worst = rows.loc[np.abs(np.log(rows["ratio"])).idxmax()]
    return (
        f"{len(rows)}; furthest {worst['implementation']}, {format_size(int(worst['msg_bytes']))}, "
        f"{worst['n_threads']} threads: {worst['ratio']:.2f}"
    )


def _half_width(spread: float, n_rounds: int) -> float:
    if n_rounds < 2:
        return float("inf")
    return t_quantile((1.0 + _CONFIDENCE) / 2.0, n_rounds - 1) * spread / float(np.sqrt(n_rounds))


_INTRODUCTION = """\
# How long is a window, and how many rounds?

{n_cells} cells on `veth`, each measured with every setting below in {n_rounds} rounds, shuffled
within a round. Compared with a warm-up of {warmup} s and a window of {window} s, paired by round:
the median of the cells' ratios, the interval (95%) of their mean, the median distance of a cell
from 1, which holds the noise of {n_rounds} rounds too, and the cells that stand out after Holm's
correction over the cells of a setting. Written from `windows.csv` beside this page by
`PYTHONPATH=workflow python -m tools.windows page docs/windows.csv`; the same tool measures it anew.
"""

_BOUGHT = """\
## What do {seconds:g} seconds of a cell buy?

The median over the comparisons with two_copy of the standard deviation of a round's log ratio, and
the half width of the interval (t, 95%) that as many rounds have as fit, where a repetition takes
{overhead_s:g} s besides warm-up and window.
"""


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measured = commands.add_parser("measure", help="measure every cell with every setting")
    measured.add_argument("csv", type=Path)
    measured.add_argument("--rounds", type=int, default=5)
    measured.add_argument("--seed", type=int, default=1)
    written = commands.add_parser("page", help="write the page to stdout")
    written.add_argument("csv", type=Path)
    written.add_argument("--overhead", type=float, default=0.2, help="per repetition [s]")
    written.add_argument("--seconds", type=float, default=4.5, help="that a cell may take [s]")
    options = parser.parse_args()
    if options.command == "measure":
        with options.csv.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [each.name for each in fields(_Point)])
            writer.writeheader()
            for point in measure(options.rounds, options.seed):
                writer.writerow(asdict(point))
                file.flush()
    else:
        table = pd.read_csv(options.csv)
        print("\n".join(page(table, options.overhead, options.seconds)))


if __name__ == "__main__":
    main()
