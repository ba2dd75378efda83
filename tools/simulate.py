"""How often intervals, places and verdicts are right, on simulated runs whose truth is known.

    PYTHONPATH=workflow python -m tools.simulate crossovers > docs/simulation_crossovers.csv
    PYTHONPATH=workflow python -m tools.simulate shares > docs/simulation_shares.csv

`tools/simulation` has what is simulated; the runs are analysed by the code that analyses real ones.
"""

import sys
from collections.abc import Sequence

from copycost.stats.settings import StatisticsSettings
from tools.simulation.crossovers import simulate_all
from tools.simulation.groups import comparisons, dependence, extremes
from tools.simulation.output import parser, print_rows
from tools.simulation.pairs import pairs


def main(arguments: Sequence[str] | None = None) -> int:
    """Print every kind of run as a row."""
    options = parser(__doc__, 100)
    options.add_argument("what", choices=("crossovers", "shares"))
    given = options.parse_args(arguments)
    settings = StatisticsSettings(seed=given.seed)
    if given.what == "crossovers":
        print_rows(simulate_all(given.runs, settings))
    else:
        kinds = (dependence, comparisons, extremes, pairs)
        print_rows(row for kind in kinds for row in kind(given.runs, settings))
    return 0


if __name__ == "__main__":
    sys.exit(main())
