"""How often intervals, places and verdicts are right, on simulated runs whose truth is known.

    PYTHONPATH=workflow python -m tools.simulate --page docs/simulation.md

`tools/simulation` has what is simulated; the runs are analysed by the code that analyses real ones.
"""

import argparse
import csv
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

from copycost.stats.settings import StatisticsSettings
from tools.simulation.crossovers import Counts, simulate_all
from tools.simulation.groups import comparisons, dependence, extremes
from tools.simulation.page import page
from tools.simulation.pairs import pairs


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, and each kind of run as a row of CSV where asked to."""
    parser = argparse.ArgumentParser(prog="tools.simulate", description=__doc__)
    parser.add_argument("--runs", type=int, default=100, help="simulated runs of each kind [count]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, help="CSV file with every kind of run")
    parser.add_argument("--page", type=Path, required=True, help="Markdown page to write")
    options = parser.parse_args(arguments)
    settings = StatisticsSettings(seed=options.seed)
    counts = list(simulate_all(options.runs, settings))
    command = (
        f"PYTHONPATH=workflow python -m tools.simulate --runs {options.runs} "
        f"--seed {options.seed} --page docs/simulation.md"
    )
    text = page(
        command,
        counts,
        dependence(options.runs, settings),
        comparisons(options.runs, settings),
        extremes(options.runs, settings),
        list(pairs(options.runs, settings)),
    )
    options.page.write_text(text, encoding="utf-8")
    if options.output is not None:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        with options.output.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [field.name for field in fields(Counts)])
            writer.writeheader()
            writer.writerows(asdict(row) for row in counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
