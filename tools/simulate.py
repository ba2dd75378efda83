"""How often what is said of a run is wrong: runs of known truth, judged by what judges real ones.

    PYTHONPATH=workflow python -m tools.simulate crossovers > docs/simulation_crossovers.csv

`tools/simulation` has a module for each; docs/method.md tells what came of them.
"""

import argparse
import csv
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copycost.compare.runs.results import QUANTITIES
from tools.simulation import (
    across_hosts,
    between_runs,
    claims,
    crossovers,
    decisions,
    groups,
    honest_tables,
    modes,
    shares,
    stopping,
    unexpected,
)
from tools.simulation.noise import INDEPENDENT, NOISES
from tools.simulation.truths import truths

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def each(
    simulate: "Callable[..., DataclassInstance]", kinds: Iterable[tuple[Any, ...]]
) -> "Callable[[int, int], Iterable[DataclassInstance]]":
    """Return what simulates every kind, a row each."""
    every = list(kinds)
    return lambda n_runs, seed: (simulate(*kind, n_runs, seed) for kind in every)


SIMULATIONS: "Mapping[str, tuple[Callable[[int, int], Iterable[DataclassInstance]], int]]" = {
    "across_hosts": (each(across_hosts.simulate, across_hosts.KINDS), 2000),
    "audit": (honest_tables.simulate_all, 400),
    "between_runs": (each(between_runs.simulate, product(between_runs.KINDS, NOISES)), 200),
    "claims": (
        each(claims.simulate, product(claims.cases(), claims.NOISES, claims.ROUNDS)), 200
    ),
    "critical_gaps": (each(modes.critical_gaps, product(modes.TABLED)), 1_000_000),
    "crossovers": (
        each(crossovers.simulate, product(truths(), NOISES, crossovers.LEVELS, crossovers.ROUNDS)),
        100,
    ),
    "decisions": (
        each(decisions.simulate, product(decisions.TRUTHS, INDEPENDENT, decisions.ROUNDS)), 100
    ),
    "groups": (each(groups.simulate, product(groups.TRUTHS, INDEPENDENT, groups.ROUNDS)), 100),
    "modes": (modes.simulate_all, 1000),
    "shares": (shares.simulate_all, 100),
    "run_spreads": (
        each(between_runs.measured_spread, product(one.name for one in QUANTITIES)), 1
    ),
    "stopping": (each(stopping.simulate, product(stopping.NOISES, stopping.TIMES)), 200),
    "unexpected": (each(unexpected.simulate, product(unexpected.KINDS)), 200),
}  # fmt: skip
"""By name, what yields the rows from a number of runs and a seed, and how many runs are usual."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the rows of a simulation as CSV; return 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=SIMULATIONS)
    parser.add_argument("--runs", type=int, help="simulated runs of each kind [count]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cells", type=Path, help="audit: a real cells.csv to cut tables out of")
    given = parser.parse_args(arguments)
    simulate, usual = SIMULATIONS[given.what]
    if given.what == "audit":
        simulate = partial(honest_tables.simulate_all, cells=given.cells)
    writer = None
    for row in simulate(given.runs or usual, given.seed):
        if writer is None:
            names = [field.name for field in fields(row)]
            writer = csv.DictWriter(sys.stdout, names, lineterminator="\n")
            writer.writeheader()
        values = asdict(row).items()
        writer.writerow({k: f"{v:.4f}" if isinstance(v, float) else v for k, v in values})
    return 0


if __name__ == "__main__":
    sys.exit(main())
