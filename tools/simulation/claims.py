"""Simulates verdicts on claims: how often is a true one contradicted, a false one supported.

Tables of measurements are made of cells whose true values are known, and judged by the code that
judges claims. Truths are as close to the edge of what is claimed as they can be, where errors are
most frequent: a claim is barely true in every cell that it needs, or false in one cell alone and
barely so. Measured values scatter normally, or with heavy tails.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.stats.settings import FloatArray
from copycost.compare.audit.claims.cell_p_values import Measured
from copycost.compare.audit.claims.parse import parse_claim
from copycost.compare.audit.claims.rulings import Verdict
from copycost.compare.audit.claims.verdicts import quick_verdict
from copycost.compare.audit.dataset import Dataset
from copycost.compare.audit.mapping import FileMapping
from tools.simulation.noise import NOISES as ALL_NOISES
from tools.simulation.noise import Noise

SIZES = (1 << 10, 4 << 10, 16 << 10, 64 << 10)
N_THREADS = (1, 4)
ROUNDS = (3, 5, 10)
NOISE = 0.03
N_CELLS = len(SIZES) * len(N_THREADS)
FAR = 0.5
"""A logarithm of a ratio that no noise hides."""
_THAN = 1e9
_DURATION_S = 5.0

NOISES = {"normal": ALL_NOISES["normal"], "heavy tails": ALL_NOISES["heavy tails (t3)"]}


@dataclass(frozen=True)
class Case:
    """A claim, as in a file of claims, of a kind, and whether it `holds`, and how (`truth`).

    `effects` are the true logarithms of one_copy's values over two_copy's, in the order of sizes,
    then threads; `rival` is the same of one_copy's over zero_copy's, None for far above.
    """

    kind: str
    truth: str
    said: Mapping[str, Any]
    holds: bool
    effects: Sequence[float]
    rival: Sequence[float] | None = None


_ONE = {"metric": "throughput", "implementation": "one_copy"}
_COMPARE = _ONE | {"with": "two_copy"}


def _crossover(kind: str, truth: str, effects: Sequence[float], size: str, holds: bool) -> Case:
    """Return a claim that one_copy is faster from a size on."""
    said = {"crossover": _COMPARE | {"from": size}}
    return Case(kind, truth, said, holds, [each for each in effects for _ in N_THREADS])


def _all_but_one(edge: float, inside: float) -> tuple[float, ...]:
    return (edge, *[inside] * (N_CELLS - 1))


def _edges(kind: str, said: Mapping[str, Any], edge: float, inside: float) -> Iterator[Case]:
    """Yield a claim that is barely true in all of its cells, and barely false in one.

    The claimed range ends at the edge, a logarithm; `inside` is far inside of it.
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
    more = {"compare": _COMPARE | {"is": "more"}}
    percent = {"compare": _COMPARE | {"is": "more", "percent": 30, "tolerance": 10}}
    at_least = {"change": {"metric": "throughput", "is": "grows", "at_least": 1.2,
                           "from": {"implementation": "two_copy"},
                           "to": {"implementation": "one_copy"}}}  # fmt: skip
    same = {"compare": _COMPARE | {"is": "same", "percent": 20}}
    per_byte = {"compare": _COMPARE | {"metric": "cycles_per_byte", "is": "less"}}
    above = {"value": {"metric": "throughput", "is": "above", "than": _THAN,
                       "implementations": "one_copy"}}  # fmt: skip
    two = {"compare": [more["compare"], _COMPARE | {"is": "less", "metric": "latency"}]}
    rank = {"rank": _ONE | {"is": "best"}}
    tie = [0.0] * N_CELLS
    far = [FAR] * N_CELLS
    at_16_kib = ((True, "true, a tie on one side", (-FAR, -FAR, 0.0, FAR)),
                 (True, "true, ties beyond it", (-FAR, -FAR, 0.0, 0.0)),
                 (False, "barely false, one size on", (-FAR, -FAR, 0.0, FAR)),
                 (False, "barely false, one size before", (-FAR, 0.0, FAR, FAR)))  # fmt: skip
    # ways really change places at 7 KiB
    at_7_kib = [0.1 * float(np.log(size / (7 << 10))) for size in SIZES]
    off_the_grid = ((True, "true", "7KiB"), (False, "false, in the bracket, below", "5KiB"),
                    (False, "false, in the bracket, above", "15KiB"),
                    (False, "false, below the bracket", "3KiB"))  # fmt: skip
    return [
        *_quantified("more", more, 0.0, FAR, -FAR),
        *_quantified("same", same, np.log(1.2), 0.0, FAR),
        *_quantified("value above", above, 0.0, FAR, -FAR),
        *_edges("percent", percent, np.log(1.2), np.log(1.3)),
        *_edges("at least", at_least, np.log(1.2), FAR),
        *_edges("per byte", per_byte, 0.0, FAR),
        Case("two statements", "barely true in all", two, True, tie),
        Case("two statements", "barely false in one", two, False, _all_but_one(0.0, FAR)),
        Case("rank", "ties with two rivals", rank, True, tie, tie),
        Case("rank", "ties with one rival", rank, True, tie, far),
        Case("rank", "barely false in one", rank, False, _all_but_one(0.0, FAR), far),
        *(_crossover("crossover", truth, effects, "16KiB", holds)
          for holds, truth, effects in at_16_kib),
        *(_crossover("crossover off the grid", truth, at_7_kib, size, holds)
          for holds, truth, size in off_the_grid),
    ]  # fmt: skip


@dataclass(frozen=True)
class Share:
    """Shares of the runs of one case, with one noise and number of rounds (0 to 1).

    In `wrong` ones a true claim was contradicted, or a false one supported.
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

    The values are throughputs [bit/s] of shape (n_tables, n_sizes, n_threads, n_rounds).
    """
    first, *_ = values.values()
    tables = map(name_of, range(len(first)))
    index = pd.MultiIndex.from_product(
        [list(values), list(tables), SIZES, N_THREADS, range(1, first.shape[-1] + 1)],
        names=["implementation", "dataset", "msg_bytes", "n_threads", "rep"],
    )
    rates = np.concatenate([rounds.ravel() for rounds in values.values()])
    # Of a run of given length, a faster one moves more; so many cycles are a cost per byte.
    table = index.to_frame(index=False).assign(
        throughput=rates, bytes=rates * _DURATION_S / 8.0, cycles=1e10, latency=1e3 / rates
    )
    return Dataset(
        path=Path("made.csv"), digest="", table=table, steps=pd.DataFrame(), meanings=(),
        implementations={name: name for name in values}, notes=(), mapping=FileMapping(),
    )  # fmt: skip


def name_of(table: int) -> str:
    """Return the name of one of several tables."""
    return f"table-{table}"


def draw_tables(
    case: Case, draw: Noise, n_rounds: int, n_tables: int, rng: np.random.Generator
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


def simulate(case: Case, noise: str, n_rounds: int, n_runs: int, seed: int) -> Share:
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
