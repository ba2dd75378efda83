"""Simulates verdicts on claims: how often is a true one contradicted, a false one supported.

    PYTHONPATH=workflow python -m tools.simulate_claims > docs/simulation_claims.csv

Tables of measurements are made of cells whose true values are known, and judged by the code that
judges claims. Truths are as close to the edge of what is claimed as they can be, where errors are
most frequent: a claim is barely true in every cell that it needs, or false in one cell alone and
barely so. Measured values scatter normally, or with heavy tails.
"""

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from copycost.audit.claims.cells import Measured
from copycost.audit.claims.parse import parse_claim
from copycost.audit.claims.verdicts import Verdict, quick_verdict
from copycost.audit.dataset import Dataset
from copycost.audit.mapping import FileMapping
from copycost.audit.quantities import DATASET, IMPLEMENTATION, REP, SIZE, THREADS
from copycost.stats.settings import FloatArray
from tools.simulation.output import parser, print_rows

SIZES = (1 << 10, 4 << 10, 16 << 10, 64 << 10)
N_THREADS = (1, 4)
ROUNDS = (3, 5, 10)
NOISE = 0.03
N_CELLS = len(SIZES) * len(N_THREADS)
FAR = 0.5
"""A logarithm of a ratio that no noise hides."""
_THAN = 1e9
_DURATION_S = 5.0

Draw = Callable[[np.random.Generator, tuple[int, ...]], FloatArray]


NOISES: Mapping[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "heavy tails": lambda rng, shape: rng.standard_t(3, size=shape) / np.sqrt(3.0),
}


@dataclass(frozen=True)
class Case:
    """A claim and a truth.

    Attributes
    ----------
    kind
        The kind of claim, for the reader.
    truth
        Whether it is true, and how.
    said
        The claim, as in a file of claims.
    holds
        Whether it is true.
    effects
        True logarithms of one_copy's values over two_copy's, in the order of sizes, then threads.
    rival
        The same of one_copy's over zero_copy's; None for far above.
    """

    kind: str
    truth: str
    said: Mapping[str, Any]
    holds: bool
    effects: Sequence[float]
    rival: Sequence[float] | None = None


_COMPARE = {"metric": "throughput", "implementation": "one_copy", "with": "two_copy"}
_GROW = {"metric": "throughput", "from": {"implementation": "two_copy"},
         "to": {"implementation": "one_copy"}, "is": "grows"}  # fmt: skip
_RANK = {"rank": {"metric": "throughput", "implementation": "one_copy", "is": "best"}}
_CROSSOVER = {"crossover": {"metric": "throughput", "implementation": "one_copy",
                            "with": "two_copy", "from": "16KiB"}}  # fmt: skip


def _crossover(truth: str, size: str, holds: bool) -> Case:
    """Return a claim off the grid, where ways really change places at 7 KiB."""
    effects = [0.1 * float(np.log(size / (7 << 10))) for size in SIZES]
    said = {"crossover": _CROSSOVER["crossover"] | {"from": size}}
    return Case("crossover off the grid", truth, said, holds, _along_sizes(effects))


def _all_but_one(edge: float, inside: float) -> tuple[float, ...]:
    return (edge, *[inside] * (N_CELLS - 1))


def _along_sizes(effects: Sequence[float]) -> tuple[float, ...]:
    return tuple(effect for effect in effects for _ in N_THREADS)


def _edges(kind: str, said: Mapping[str, Any], edge: float, inside: float) -> Iterator[Case]:
    """Yield a claim that is barely true in all of its cells, and barely false in one.

    Parameters
    ----------
    edge
        Where the claimed range ends, as a logarithm.
    inside
        Far inside of it.
    """
    yield Case(kind, "barely true in all", said, True, [edge] * N_CELLS)
    yield Case(kind, "barely false in one", said, False, _all_but_one(edge, inside))


def _quantified(
    kind: str, said: Mapping[str, Any], edge: float, inside: float, outside: float
) -> Iterator[Case]:
    """Yield the same of all, of most and of some of its cells, others being far outside."""
    most = N_CELLS // 2 + 1
    in_most, in_some = {**said, "in": "most"}, {**said, "in": "some"}
    yield from _edges(kind, said, edge, inside)
    yield Case(f"{kind}, in most", "barely true in most", in_most, True,
               [edge] * most + [outside] * (N_CELLS - most))  # fmt: skip
    yield Case(f"{kind}, in most", "barely false in half", in_most, False,
               [inside] * (most - 1) + [edge] * (N_CELLS - most + 1))  # fmt: skip
    yield Case(f"{kind}, in some", "barely true in one", in_some, True, _all_but_one(edge, outside))
    yield Case(f"{kind}, in some", "barely false in all", in_some, False, [edge] * N_CELLS)


def cases() -> list[Case]:
    """Return every kind of claim, barely true and barely false."""
    more = {"compare": {**_COMPARE, "is": "more"}}
    percent = {"compare": {**_COMPARE, "is": "more", "percent": 30, "tolerance": 10}}
    at_least = {"change": {**_GROW, "at_least": 1.2}}
    same = {"compare": {**_COMPARE, "is": "same", "percent": 20}}
    per_byte = {"compare": {**_COMPARE, "metric": "cycles_per_byte", "is": "less"}}
    above = {"value": {"metric": "throughput", "is": "above", "than": _THAN,
                       "implementations": "one_copy"}}  # fmt: skip
    two = {"compare": [more["compare"], {**_COMPARE, "is": "less", "metric": "latency"}]}
    tie = [0.0] * N_CELLS
    far = [FAR] * N_CELLS
    return [
        *_quantified("more", more, 0.0, FAR, -FAR),
        *_quantified("same", same, np.log(1.2), 0.0, FAR),
        *_quantified("value above", above, 0.0, FAR, -FAR),
        *_edges("percent", percent, np.log(1.2), np.log(1.3)),
        *_edges("at least", at_least, np.log(1.2), FAR),
        *_edges("per byte", per_byte, 0.0, FAR),
        Case("two statements", "barely true in all", two, True, tie),
        Case("two statements", "barely false in one", two, False, _all_but_one(0.0, FAR)),
        Case("rank", "ties with two rivals", _RANK, True, tie, tie),
        Case("rank", "ties with one rival", _RANK, True, tie, far),
        Case("rank", "barely false in one", _RANK, False, _all_but_one(0.0, FAR), far),
        Case("crossover", "true, a tie on one side", _CROSSOVER, True,
             _along_sizes((-FAR, -FAR, 0.0, FAR))),
        Case("crossover", "true, ties beyond it", _CROSSOVER, True,
             _along_sizes((-FAR, -FAR, 0.0, 0.0))),
        Case("crossover", "barely false, one size on", _CROSSOVER, False,
             _along_sizes((-FAR, -FAR, 0.0, FAR))),
        Case("crossover", "barely false, one size before", _CROSSOVER, False,
             _along_sizes((-FAR, 0.0, FAR, FAR))),
        _crossover("true", "7KiB", True),
        _crossover("false, in the bracket, below", "5KiB", False),
        _crossover("false, in the bracket, above", "15KiB", False),
        _crossover("false, below the bracket", "3KiB", False),
    ]  # fmt: skip


@dataclass(frozen=True)
class Share:
    """How often verdicts were wrong, of one case with one noise and number of rounds.

    Attributes
    ----------
    claim, truth
        The kind of claim; whether it is true, and how.
    wrong
        Share of runs in which a true claim was contradicted, or a false one supported.
    undecided
        Share of runs without a verdict.
    """

    claim: str
    truth: str
    noise: str
    n_rounds: int
    n_runs: int
    wrong: float
    undecided: float


def dataset_of(values: Mapping[str, FloatArray]) -> Dataset:
    """Return tables of cells as an audit reads them, each a dataset of one file.

    Parameters
    ----------
    values
        Per implementation the throughputs [bit/s], shape (n_tables, n_sizes, n_threads, n_rounds).
    """
    first, *_ = values.values()
    tables = map(name_of, range(len(first)))
    index = pd.MultiIndex.from_product(
        [list(values), list(tables), SIZES, N_THREADS, range(1, first.shape[-1] + 1)],
        names=[IMPLEMENTATION, DATASET, SIZE, THREADS, REP],
    )
    rates = np.concatenate([rounds.ravel() for rounds in values.values()])
    # Of a run of given length, a faster one moves more; so many cycles are a cost per byte.
    table = index.to_frame(index=False).assign(
        throughput=rates, bytes=rates * _DURATION_S / 8.0, cycles=1e10, latency=1e3 / rates
    )
    return Dataset(
        name="made", path=Path("made.csv"), digest="", table=table, steps=pd.DataFrame(),
        times=pd.DataFrame(),
        meanings=(), implementations={name: name for name in values}, notes=(),
        mapping=FileMapping(),
    )  # fmt: skip


def name_of(table: int) -> str:
    """Return the name of one of several tables."""
    return f"table-{table}"


def draw_tables(
    case: Case, draw: Draw, n_rounds: int, n_tables: int, rng: np.random.Generator
) -> Dataset:
    """Return tables in which a case is true, with noise."""
    shape = (len(SIZES), len(N_THREADS), 1)
    effects = np.array(case.effects).reshape(shape)
    rival = np.full(shape, FAR) if case.rival is None else np.array(case.rival).reshape(shape)
    # A claim about values is one about one_copy's alone, whose level carries the effect.
    levels = {"one_copy": effects, "two_copy": 0.0 * effects, "zero_copy": effects - rival}
    every = (n_tables, *shape[:2], n_rounds)
    return dataset_of(
        {name: _THAN * np.exp(level + NOISE * draw(rng, every)) for name, level in levels.items()}
    )


def simulate(case: Case, noise: str, n_rounds: int, n_runs: int, seed: int = 1) -> Share:
    """Judge a claim on so many tables."""
    rng = np.random.default_rng([seed, n_rounds, *f"{case.kind}, {case.truth}".encode()])
    claim = parse_claim(case.said)
    error = Verdict.CONTRADICTED if case.holds else Verdict.SUPPORTED
    measured = Measured(draw_tables(case, NOISES[noise], n_rounds, n_runs, rng))
    found = [
        quick_verdict(replace(claim, dataset=name_of(table)), measured) for table in range(n_runs)
    ]
    return Share(case.kind, case.truth, noise, n_rounds, n_runs, found.count(error) / n_runs,
                 found.count(Verdict.UNDECIDED) / n_runs)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the results, a row of CSV each."""
    given = parser(__doc__, 200).parse_args(arguments)
    print_rows(
        simulate(case, noise, n_rounds, given.runs, given.seed)
        for case, noise, n_rounds in itertools.product(cases(), NOISES, ROUNDS)
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
