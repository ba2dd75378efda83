"""The command line of the simulations, and their results as CSV."""

import argparse
import csv
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, fields
from itertools import product
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Truth = TypeVar("_Truth")


def parser(doc: str | None, n_runs: int) -> argparse.ArgumentParser:
    """Return a parser of ``--runs``, so many unless given, and ``--seed``."""
    found = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    found.add_argument("--runs", type=int, default=n_runs, help="simulated runs of each [count]")
    found.add_argument("--seed", type=int, default=1)
    return found


def print_rows(rows: Iterable["DataclassInstance"]) -> None:
    """Print rows of one type as CSV, with its fields as the header and four decimals."""
    writer = None
    for row in rows:
        if writer is None:
            names = [field.name for field in fields(row)]
            writer = csv.DictWriter(sys.stdout, names, lineterminator="\n")
            writer.writeheader()
        writer.writerow(
            {
                name: f"{value:.4f}" if isinstance(value, float) else value
                for name, value in asdict(row).items()
            }
        )


def print_grid(
    doc: str | None,
    arguments: Sequence[str] | None,
    simulate: "Callable[[_Truth, str, int, int, int], DataclassInstance]",
    kinds: tuple[Iterable[_Truth], Iterable[str], Iterable[int]],
) -> int:
    """Print a row for each truth, noise and number of rounds, of 100 runs unless told else."""
    given = parser(doc, 100).parse_args(arguments)
    print_rows(simulate(*kind, given.runs, given.seed) for kind in product(*kinds))
    return 0
