"""How often the audit's checks say something of tables that were honestly measured.

    PYTHONPATH=workflow python -m tools.simulate_audit --tables 400 --cells results/tables/cells.csv

makes tables with `tools.honest_tables`, and counts the findings by code: in how many tables they
are, and how many tables have one that is more than possible. docs/audit.md has the result.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from copycost.audit.mapping import FileMapping
from copycost.audit.plausibility import Finding, check_plausibility
from copycost.audit.plausibility.finding import Kind, Sureness
from copycost.audit.reader import read_dataset
from tools.honest_tables import honest_table, printed_table


def findings_of(table: pd.DataFrame, folder: Path) -> list[Finding]:
    """Return what the checks say of a table, which is written and read as a foreign one."""
    path = folder / "table.csv"
    table.to_csv(path, index=False)
    return check_plausibility(read_dataset(path, FileMapping()))


def is_false_alarm(found: Finding) -> bool:
    """Tell whether a finding says more than that something is missing, few or worth a question."""
    return found.sureness is not Sureness.POSSIBLE and found.kind not in (
        Kind.NOT_COUNTED,
        Kind.WEAK,
        Kind.INCOMPLETE,
    )


def simulate(tables: Iterator[pd.DataFrame], n_tables: int) -> tuple[Counter[str], list[str]]:
    """Return in how many tables each code is found, and a line for each false alarm."""
    codes: Counter[str] = Counter()
    alarms: list[str] = []
    with tempfile.TemporaryDirectory(prefix="copycost_honest_") as folder:
        for number, table in zip(range(n_tables), tables, strict=False):
            findings = findings_of(table, Path(folder))
            codes.update({f"{found.kind}: {found.code}" for found in findings})
            false = [found for found in findings if is_false_alarm(found)]
            if false:
                codes["any that is a false alarm"] += 1
            alarms += [
                f"{number}: {found.code} {found.quantities} {dict(found.numbers)}"
                for found in false
            ]
    return codes, alarms


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate and print; return 0."""
    parser = argparse.ArgumentParser(description="Findings of the audit in honest tables.")
    parser.add_argument("--tables", type=int, default=400, help="of each kind (default: 400)")
    parser.add_argument("--first", type=int, default=0, help="seed of the first (default: 0)")
    parser.add_argument("--cells", type=Path, help="a real table of cells to cut tables out of")
    options = parser.parse_args(arguments)
    seeds = range(options.first, options.first + options.tables)
    kinds: dict[str, Iterator[pd.DataFrame]] = {"drawn": map(honest_table, seeds)}
    if options.cells:
        cells = read_dataset(options.cells, FileMapping())
        kinds["cut out of a real table"] = (printed_table(cells, seed) for seed in seeds)
    for kind, tables in kinds.items():
        codes, alarms = simulate(tables, options.tables)
        print(f"{options.tables} tables {kind}:")
        for code, n in codes.most_common():
            print(f"  {n:5d}  {100 * n / options.tables:5.1f} %  {code}")
        for line in alarms:
            print(f"  false alarm {line}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
