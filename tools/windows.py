"""How long a window must be, and how many rounds the time buys.

    PYTHONPATH=workflow python -m tools.windows measure --rounds 5 results/windows.csv
    PYTHONPATH=workflow python -m tools.windows rounds results/tables/cells.csv results/rounds.csv
    PYTHONPATH=workflow python -m tools.windows page results/windows.csv results/rounds.csv

The first measures every cell of a small grid with several warm-ups and windows, a round of all of
them after the other, shuffled within the round: about 15 minutes, and it needs the programs and the
host facts of a run (`snakemake --cores 1 measure`). The second keeps of a run what the third needs.
That compares each setting with the longest, paired by round, says what rounds of that length decide
in a given time, and resamples the rounds of the run to see how many differences they would decide.
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
from copycost.stats.ratios import Ratio, holm, paired_ratio, t_quantile
from copycost.wording.plurals import plural
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
_BASELINE = _IMPLEMENTATIONS[0]
_CONFIDENCE = 0.95
_N_DRAWS = 1000
_SEED = 1
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
    keys = ["warmup_s", "window_s", "msg_bytes", "n_threads", "implementation"]
    logs = log_ratios(table).groupby(level=keys)
    found: pd.DataFrame = logs.std(ddof=1).rename("spread").reset_index()
    return found


def comparison_shifts(table: pd.DataFrame, implementation: str) -> dict[tuple[float, float], Ratio]:
    """Return by setting how far it moves a way's ratio to two_copy, over the cells."""
    logs = log_ratios(table).xs(implementation, level="implementation")
    keys = ["warmup_s", "window_s", "msg_bytes", "n_threads"]
    cells = logs.groupby(level=keys).mean().unstack(["warmup_s", "window_s"])
    return {
        setting: paired_ratio(
            (cells[setting] - cells[SETTINGS[-1]]).to_numpy(np.float64), _CONFIDENCE
        )
        for setting in SETTINGS[:-1]
    }


def log_ratios(rounds: pd.DataFrame) -> pd.Series:
    """Return the log throughput ratio of each way to two_copy, by comparison and round."""
    others = ("implementation", "throughput_bits_per_s", "both_cpu_ns_per_byte", "warnings")
    keys = [name for name in rounds if name not in others]
    logs = np.log(rounds.set_index([*keys, "implementation"])["throughput_bits_per_s"])
    wide = logs.unstack("implementation")
    ratios = wide.drop(columns=_BASELINE).sub(wide[_BASELINE], axis=0).stack()
    found: pd.Series = ratios.dropna()
    return found


def decided_share(rounds: pd.DataFrame, effect: float, n_draws: int, seed: int) -> pd.DataFrame:
    """Return in which share of resampled runs a difference of so much would have a verdict.

    The rounds of each comparison are moved to the effect, either way, and drawn with replacement;
    their distance from the mean is widened by sqrt(n / (n - 1)), which resampling would take away.
    One row per condition: comparisons, rounds, share with the right verdict, with the wrong one.
    """
    random = np.random.default_rng(seed)
    rows = []
    keys = ["condition", "implementation", "msg_bytes", "n_threads"]
    for name, values in log_ratios(rounds).groupby(level=keys):
        logs = values.to_numpy(np.float64)
        n = len(logs)
        if n < 2:
            continue
        residuals = (logs - logs.mean()) * np.sqrt(n / (n - 1))
        for true in (np.log1p(effect), -np.log1p(effect)):
            drawn = true + random.choice(residuals, size=(n_draws, n))
            found = [paired_ratio(one, _CONFIDENCE) for one in drawn]
            right = [(one.low > 1.0) if true > 0 else (one.high < 1.0) for one in found]
            wrong = [(one.high < 1.0) if true > 0 else (one.low > 1.0) for one in found]
            rows.append((np.array(name)[0], n, np.mean(right), np.mean(wrong)))
    table = pd.DataFrame(rows, columns=["condition", "rounds", "decided", "wrong"])
    groups = table.groupby("condition", sort=False)
    found_table: pd.DataFrame = groups.agg(
        comparisons=("decided", lambda shares: len(shares) // 2),
        rounds=("rounds", "min"),
        decided=("decided", "mean"),
        wrong=("wrong", "mean"),
    )
    return found_table


def decided_in_run(rounds: pd.DataFrame, effect: float) -> pd.DataFrame:
    """Return by condition how many measured ratios are so far from 1, and how many have a verdict.

    Columns ``large`` and ``decided``; of these the run has the verdict itself, nothing is drawn.
    """
    keys = ["condition", "implementation", "msg_bytes", "n_threads"]
    rows = []
    for name, logs in log_ratios(rounds).groupby(level=keys):
        found = paired_ratio(logs.to_numpy(np.float64), _CONFIDENCE)
        large = abs(np.log(found.value)) >= np.log1p(effect)
        rows.append((np.array(name)[0], large, large and not found.low <= 1.0 <= found.high))
    table = pd.DataFrame(rows, columns=["condition", "large", "decided"])
    found_table: pd.DataFrame = table.groupby("condition").sum()
    return found_table


def half_widths(rounds: pd.DataFrame) -> pd.Series:
    """Return the median half width of the intervals of log ratios, by condition."""
    keys = ["condition", "implementation", "msg_bytes", "n_threads"]
    found = (
        log_ratios(rounds)
        .groupby(level=keys)
        .agg(lambda logs: _half_width(float(logs.std(ddof=1)), len(logs)))
    )
    medians: pd.Series = found.groupby(level="condition").median()
    return medians


def page(
    table: pd.DataFrame, rounds: pd.DataFrame, overhead_s: float, seconds: float
) -> Iterator[str]:
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
    yield "## Does a short window shift the comparisons?\n"
    yield "How far it moves the throughput ratios to `two_copy`: the mean over the cells."
    yield ""
    yield "| Warm-up | Window | Implementation | Ratio of ratios | Interval |"
    yield "| ---: | ---: | --- | ---: | ---: |"
    for implementation in _IMPLEMENTATIONS[1:]:
        for (warmup_s, window_s), shift in comparison_shifts(table, implementation).items():
            yield (
                f"| {warmup_s} s | {window_s} s | {implementation} | {shift.value:.3f} "
                f"| {shift.low:.3f} to {shift.high:.3f} |"
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
    yield ""
    yield _DECIDED
    yield (
        "| Condition | Comparisons | Rounds | Half width | 10% decided | 20% decided | Wrong "
        "| Measured 10% or more | Of these decided |"
    )
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    verdicts = decided_in_run(rounds, 0.1)
    widths = half_widths(rounds)
    larger = decided_share(rounds, 0.2, _N_DRAWS, _SEED)["decided"]
    for condition, row in decided_share(rounds, 0.1, _N_DRAWS, _SEED).T.items():
        name = str(condition)
        yield (
            f"| {name} | {row['comparisons']:.0f} | {row['rounds']:.0f} "
            f"| {widths[name]:.3f} | {row['decided']:.0%} "
            f"| {larger[name]:.0%} | {row['wrong']:.1%} "
            f"| {verdicts['large'][name]:.0f} | {verdicts['decided'][name]:.0f} |"
        )


def _cells(rows: pd.DataFrame) -> str:
    """Return how many cells, and the one that is furthest off."""
    if rows.empty:
        return "none"
    worst = rows.loc[np.abs(np.log(rows["ratio"])).idxmax()]
    return (
        f"{len(rows)}; furthest {worst['implementation']}, {format_size(int(worst['msg_bytes']))}, "
        f"{plural(int(worst['n_threads']), 'thread')}: {worst['ratio']:.2f}"
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
correction over the cells of a setting. The same tool that measured it wrote this page:

    PYTHONPATH=workflow python -m tools.windows page docs/windows.csv docs/windows_rounds.csv
"""

_BOUGHT = """\
## What do {seconds:g} seconds of a cell buy?

The median over the comparisons with two_copy of the standard deviation of a round's log ratio, and
the half width of the interval (t, 95%) that as many rounds have as fit, where a repetition takes
{overhead_s:g} s besides warm-up and window.
"""

_DECIDED = """\
## What does a default run decide?

The rounds of the comparisons with two_copy in one run of the default configuration
(`windows_rounds.csv`): the median half width of their intervals (log ratio), and in which share of
1,000 resampled runs, with the scatter of these rounds, a true difference of 10% or 20% would have
the right verdict, and one of 10% the wrong one. Behind that, what the run itself says: how many of
its ratios came out 10% or more away from 1, and how many of these it decides.
"""


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measured = commands.add_parser("measure", help="measure every cell with every setting")
    measured.add_argument("csv", type=Path)
    measured.add_argument("--rounds", type=int, default=5)
    measured.add_argument("--seed", type=int, default=1)
    kept = commands.add_parser("rounds", help="keep the throughput of a run's rounds")
    kept.add_argument("cells", type=Path)
    kept.add_argument("csv", type=Path)
    written = commands.add_parser("page", help="write the page to stdout")
    written.add_argument("csv", type=Path)
    written.add_argument("rounds", type=Path)
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
    elif options.command == "rounds":
        cells = pd.read_csv(options.cells)
        names = ["condition", *_CELL, "rep", "throughput_bits_per_s"]
        cells.loc[cells["status"] == "measured", names].to_csv(options.csv, index=False)
    else:
        table, rounds = pd.read_csv(options.csv), pd.read_csv(options.rounds)
        print("\n".join(page(table, rounds, options.overhead, options.seconds)))


if __name__ == "__main__":
    main()
