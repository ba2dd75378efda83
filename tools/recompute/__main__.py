"""Recompute a run from its raw records: ``python -m tools.recompute results [--power]``."""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tools.recompute.fleet import is_fleet, wrong_fleet_tables
from tools.recompute.power import shares_found
from tools.recompute.tables import wrong_tables
from tools.recompute.text import Checker


def main() -> int:
    """Name every number that the records do not give; 1 where there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="folder of a run, or of a fleet")
    parser.add_argument(
        "--power", action="store_true", help="change each number, and tell how often that is seen"
    )
    options = parser.parse_args()
    if is_fleet(options.results):
        wrong = list(wrong_fleet_tables(options.results))
        return _judged(wrong)
    wrong = list(wrong_tables(options.results))
    checker = Checker(options.results)
    findings = list(checker.findings())
    for found in findings:
        if found.verdict == "differs":
            wrong.append(f"{found.section}: {found.text}, {found.said}: {found.within}")
    missed = Counter(found.section for found in findings if found.verdict == "not recomputed")
    checked = sum(found.verdict in ("agrees", "differs") for found in findings)
    print(f"report: {checked} numbers checked, {sum(missed.values())} not recomputed:")
    for section, n in missed.items():
        print(f"  {section or 'before the first section'}: {n}")
    if options.power:
        for kind, (found_, tried) in shares_found(checker).items():
            print(f"{found_ / tried:.0%} of {tried} changed numbers in {kind} were found")
    return _judged(wrong)


def _judged(wrong: Sequence[str]) -> int:
    for line in wrong:
        print(line)
    print(f"{len(wrong)} numbers differ" if wrong else "every number follows from the records")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
