"""Recompute a run from its raw records: ``python -m tools.recompute results``."""

import argparse
import sys
from pathlib import Path

from tools.recompute.tables import wrong_cells, wrong_ratios, wrong_summary


def main() -> int:
    """Name every number that the records do not give; 1 where there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="folder of a run")
    results = parser.parse_args().results
    wrong = [*wrong_cells(results), *wrong_summary(results), *wrong_ratios(results)]
    for line in wrong:
        print(line)
    print(f"{len(wrong)} numbers differ" if wrong else "every number follows from the records")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
