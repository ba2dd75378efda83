"""Recompute a run from its raw records: ``python -m tools.recompute results``."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.recompute.fleet import is_fleet, wrong_fleet_tables
from tools.recompute.numbers import without_source, wrong_numbers
from tools.recompute.rebuild import differences, rebuild
from tools.recompute.tables import wrong_tables


def main() -> int:
    """Name every number that the records do not give; 1 where there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="folder of a run, or of a fleet")
    results = parser.parse_args().results
    wrong = list(wrong_fleet_tables(results) if is_fleet(results) else _wrong(results))
    for line in wrong:
        print(line)
    print(f"{len(wrong)} values differ" if wrong else "every number follows from the records")
    return bool(wrong)


def _wrong(results: Path) -> Iterator[str]:
    yield from wrong_tables(results)
    yield from wrong_numbers(results)
    yield from without_source(results)
    with TemporaryDirectory() as folder:
        try:
            yield from differences(results, rebuild(results, Path(folder, "checkout")))
        except ValueError as error:
            yield str(error)


if __name__ == "__main__":
    sys.exit(main())
