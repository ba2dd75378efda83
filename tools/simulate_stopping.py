"""Verdicts of runs that measure on where comparisons are open, and how often they are wrong.

Simulates comparisons that get rounds as the passes of a run with a stated time give them, by the
code that chooses them there, and looks at the verdicts at the end: of equals, which should have
none, and of pairs that differ. Beside it the same time spent on equally many rounds of all, looked
at once; and the same passes with plain 95 % intervals, as somebody would who looks again and again.

    PYTHONPATH=workflow python -m tools.simulate_stopping --page docs/stopping.md
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from copycost.analysis.passes import most_decisive, within
from copycost.config.looks import (
    FEWEST_ROUNDS,
    PASSES,
    confidence_of_analysis,
    confidence_to_settle,
)
from copycost.grid.cells import Cell
from copycost.stats.ratios import t_quantile
from copycost.stats.settings import FloatArray

CONFIDENCE = 0.95
TIMES = (2, 3, 5, 8, 16, 40)
"""What the time holds: so many rounds of every cell [count]."""

SPREADS = (0.005, 0.15)
"""Spread of a cell's ratio from repetition to repetition (standard deviation of its logarithm)."""

DIFFERENCES = (0.0, 0.0, 0.0, 0.0, 0.03, 0.1, 0.4)
"""True logarithms of the ratios of a run; the first ones are equals."""

N_GROUPS = 4
"""Groups of comparisons, each with all differences [count]."""

Noise = Callable[[np.random.Generator, FloatArray, tuple[int, ...]], FloatArray]


def _normal(rng: np.random.Generator, spread: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    return rng.normal(0.0, 1.0, shape) * spread


def _t3(rng: np.random.Generator, spread: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    return rng.standard_t(3, shape) * spread


def _dips(rng: np.random.Generator, spread: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """One repetition in ten is slower, by a quarter on average."""
    return _normal(rng, spread, shape) - rng.exponential(0.3, shape) * (rng.random(shape) < 0.1)


def _modes(rng: np.random.Generator, spread: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Every other repetition is slower by a quarter, as by where the scheduler puts the threads."""
    return _normal(rng, spread, shape) - 0.3 * (rng.random(shape) < 0.5)


NOISES: Mapping[str, Noise] = {
    "normal": _normal,
    "Student's t, 3 degrees": _t3,
    "dips": _dips,
    "two modes": _modes,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Shares of verdicts in simulated runs.

    Attributes
    ----------
    noise
        What a repetition's noise is like.
    time
        What the time holds: rounds of every cell [count].
    n_equals
        Comparisons of equals [count].
    once, again, here
        Verdicts on equals: after equally many rounds of all, looked at once; after passes that end
        with plain intervals; as a run does.
    other
        Verdicts of a run on another quantity that is equal in all pairs, and whose noise goes with
        that of the throughput.
    found_once, found
        Verdicts on pairs that differ, the right way round: as `once` and as `here`.
    """

    noise: str
    time: int
    n_equals: int
    once: float
    again: float
    here: float
    other: float
    found_once: float
    found: float


class _Run:
    """Comparisons of one run; rounds are drawn beforehand and shown as they are asked for."""

    def __init__(self, rng: np.random.Generator, noise: Noise, n_rounds: int) -> None:
        self.truth = np.tile(DIFFERENCES, N_GROUPS)
        shape = (len(self.truth), n_rounds)
        low, high = np.log(SPREADS)
        spread = np.exp(rng.uniform(low, high, (len(self.truth), 1)))
        # of both ways that a repetition measures in turns
        difference = noise(rng, spread, shape) - noise(rng, spread, shape)
        self.logs = self.truth[:, None] + difference
        # half of its variance is that of the throughput
        self.other = difference + noise(rng, spread, shape) - noise(rng, spread, shape)
        self.cells = [
            Cell("streams", "veth", f"way_{way}", 1 + group, 1)
            for group in range(N_GROUPS)
            for way in range(len(DIFFERENCES))
        ]

    def rounds(self, time: int, settled: Callable[[FloatArray], bool] | None) -> list[int]:
        """Return how many rounds comparisons get; `settled` in place of a run's own rule."""
        first = min(time, FEWEST_ROUNDS)
        n_seen = [first] * len(self.cells)
        left = float((time - first) * len(self.cells))
        for number in range(1, PASSES + 1):
            logs = {cell: self.logs[i, : n_seen[i]] for i, cell in enumerate(self.cells)}
            if settled is None:
                more = most_decisive(logs, CONFIDENCE)
            else:
                more = [cell for cell, values in logs.items() if not settled(values)]
            jobs = [{cell: 1} for cell in more]
            wanted, _ = within(jobs, left / (PASSES + 1 - number), lambda _: FEWEST_ROUNDS)
            left -= FEWEST_ROUNDS * sum(wanted.values())
            for i, cell in enumerate(self.cells):
                n_seen[i] += FEWEST_ROUNDS * wanted[cell]
        return n_seen


def _plainly(values: FloatArray) -> bool:
    return _verdict(values, CONFIDENCE) != 0


def _verdict(values: FloatArray, confidence: float) -> int:
    """Return on which side of 1 the interval of `paired_ratio` lies, in a tenth of its time."""
    n = values.size
    logs = values.tolist()
    mean = sum(logs) / n
    error = math.sqrt(sum((log - mean) ** 2 for log in logs) / (n - 1) / n)
    half = t_quantile((1.0 + confidence) / 2.0, n - 1) * error
    return int(mean > half) - int(mean < -half)


def simulate(name: str, time: int, n_runs: int, seed: int) -> Outcome:
    """Simulate runs with one kind of noise and one time."""
    rng = np.random.default_rng([seed, time, list(NOISES).index(name)])
    verdicts: dict[str, list[list[int]]] = {"once": [], "again": [], "here": [], "other": []}
    stricter = confidence_of_analysis(CONFIDENCE)
    for _ in range(n_runs):
        # the one comparison that is open may get all the time that the others leave
        run = _Run(rng, NOISES[name], time * len(DIFFERENCES) * N_GROUPS)
        here, again = run.rounds(time, None), run.rounds(time, _plainly)
        pairs = range(len(run.cells))
        verdicts["once"].append([_verdict(run.logs[i, :time], CONFIDENCE) for i in pairs])
        verdicts["again"].append([_verdict(run.logs[i, : again[i]], CONFIDENCE) for i in pairs])
        verdicts["here"].append([_verdict(run.logs[i, : here[i]], stricter) for i in pairs])
        verdicts["other"].append([_verdict(run.other[i, : here[i]], stricter) for i in pairs])
    found = {what: np.array(rows) for what, rows in verdicts.items()}
    equal = np.tile(np.array(DIFFERENCES) == 0.0, N_GROUPS)
    wrong = {what: float((rows[:, equal] != 0).mean()) for what, rows in found.items()}
    return Outcome(
        noise=name,
        time=time,
        n_equals=int(equal.sum()) * n_runs,
        once=wrong["once"],
        again=wrong["again"],
        here=wrong["here"],
        other=float((found["other"] != 0).mean()),
        found_once=float((found["once"][:, ~equal] > 0).mean()),
        found=float((found["here"][:, ~equal] > 0).mean()),
    )


def simulate_all(n_runs: int, seed: int) -> Iterator[Outcome]:
    """Yield the outcome of each kind of noise and each time."""
    for name in NOISES:
        for time in TIMES:
            yield simulate(name, time, n_runs, seed)


_PAGE = """\
# Does measuring on see differences that there are not?

With `measure.minutes` a run looks at its comparisons up to {passes} times and measures on where
they are not settled. Whoever does that with plain intervals sees differences too often. So nothing
is settled with fewer than {fewest} rounds, or by an interval of less than {settle:.2%}, and the
intervals of the analysis are those of {analysis:.0%} instead of {stated:.0%}. Simulated comparisons
whose truth is known, {n_runs:,} runs of each kind with {n_pairs} comparisons each, {n_equal} of
them of equals; rounds chosen by the code that chooses those of real runs. Written by

    {command}

Verdicts on equals, which are all wrong, and of which a run shall have at most {error:.0%}: *once*,
after equally many rounds of all cells, looked at once with {stated:.0%} intervals; *again*, after
as many passes that measure on until a {stated:.0%} interval shows a difference; *here*, as a run
does it; *other*, here on another quantity that is equal everywhere, half of whose noise is that of
the throughput. {worst}

*Found*: true differences of {least:.0%} to {most:.0%} that were seen in the same time.
The spread of a cell from round to round is {low:.1%} to {high:.0%}, another one in each cell.
*Time*: how many rounds of every cell it holds. *Dips*: one repetition in ten is slower by a quarter
on average. *Two modes*: every other one is slower by a quarter.

| Noise | Time | Once | Again | Here | Other | Found once | Found here |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{rows}"""


def page(outcomes: Sequence[Outcome], n_runs: int, seed: int) -> str:
    """Return the Markdown page that states the results and how to get them again."""
    rows = "".join(
        f"| {row.noise} | {row.time} | {row.once:.1%} | {row.again:.1%} | {row.here:.1%} "
        f"| {row.other:.1%} | {row.found_once:.1%} | {row.found:.1%} |\n"
        for row in outcomes
    )
    command = (
        f"PYTHONPATH=workflow python -m tools.simulate_stopping --runs {n_runs} --seed {seed} "
        "--page docs/stopping.md"
    )
    return _PAGE.format(
        command=command,
        passes=PASSES,
        fewest=FEWEST_ROUNDS,
        settle=confidence_to_settle(CONFIDENCE),
        analysis=confidence_of_analysis(CONFIDENCE),
        stated=CONFIDENCE,
        error=1.0 - CONFIDENCE,
        n_runs=n_runs,
        n_pairs=len(DIFFERENCES) * N_GROUPS,
        n_equal=DIFFERENCES.count(0.0) * N_GROUPS,
        least=np.expm1(min(filter(None, DIFFERENCES))),
        most=np.expm1(max(DIFFERENCES)),
        low=SPREADS[0],
        high=SPREADS[1],
        worst=_worst(outcomes),
        rows=rows,
    )


def _worst(outcomes: Sequence[Outcome]) -> str:
    """Return the largest shares in sentences: with rounds enough to look again, and without."""
    error = 1.0 - CONFIDENCE
    looked = [row for row in outcomes if row.time > FEWEST_ROUNDS]
    most, again = max(row.here for row in looked), max(row.again for row in looked)
    text = (
        f"Where there was time to look again, at most {most:.1%} of a run's verdicts on equals\n"
        f"were wrong, and up to {again:.1%} with plain intervals."
    )
    others = [row for row in outcomes if row.time <= FEWEST_ROUNDS and row.here > error]
    if others:
        kinds = ", ".join(f"{row.time} rounds of *{row.noise}* ({row.here:.1%})" for row in others)
        text += (
            "\nWith less time all cells have equally many rounds, as without a stated time; then"
            f"\nmore than {error:.0%} were wrong with {kinds}."
        )
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the results as a table, and write the page where asked to."""
    parser = argparse.ArgumentParser(prog="tools.simulate_stopping", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="simulated runs of each [count]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", type=Path, help="Markdown page to write as well")
    options = parser.parse_args(arguments)
    outcomes = []
    print("noise                   time   once  again   here  other  found once  here")
    for row in simulate_all(options.runs, options.seed):
        print(
            f"{row.noise:<22} {row.time:5d} {row.once:6.3f} {row.again:6.3f} {row.here:6.3f}"
            f" {row.other:6.3f} {row.found_once:11.3f} {row.found:5.3f}",
            flush=True,
        )
        outcomes.append(row)
    if options.page is not None:
        options.page.write_text(page(outcomes, options.runs, options.seed), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
