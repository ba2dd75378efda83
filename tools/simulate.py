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
from pathlib import Path
from typing import TYPE_CHECKING

from tools.simulation import (
    across_hosts,
    audit,
    between_runs,
    claims,
    crossovers,
    decisions,
    groups,
    modes,
    shares,
    stopping,
    unexpected,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SIMULATIONS: "Mapping[str, tuple[Callable[[int, int], Iterable[DataclassInstance]], int]]" = {
    "across_hosts": (across_hosts.simulate_all, 2000),
    "associations": (across_hosts.chance_associations, 2000),
    "audit": (audit.simulate_all, 400),
    "between_runs": (between_runs.simulate_all, 200),
    "claims": (claims.simulate_all, 200),
    "critical_gaps": (modes.critical_gaps, 1_000_000),
    "crossovers": (crossovers.simulate_all, 100),
    "decisions": (decisions.simulate_all, 100),
    "groups": (groups.simulate_all, 100),
    "modes": (modes.simulate_all, 1000),
    "shares": (shares.simulate_all, 100),
    "stopping": (stopping.simulate_all, 200),
    "unexpected": (unexpected.simulate_all, 200),
}
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
        simulate = partial(audit.simulate_all, cells=given.cells)
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
