"""What simulated caches miss at least, to be cited beside counts that are far below it."""

from functools import cache

import pandas as pd

from copycost.build.checkout import ROOT

PATH = "data/simulated/misses.csv"
_LINE_BYTES = 64


@cache
def bytes_per_l1d_miss() -> float:
    """Return how many bytes of a message the L1 data cache misses at most once in [bytes].

    Of all ways, sizes and working sets over `loopback`, where a receiver reads what was sent.
    Source: a run of our own, see README.md beside the table.
    """
    table = pd.read_csv(ROOT / PATH)
    rows = table[(table["testbed"] == "loopback") & (table["level"] == "l1d")]
    return float(_LINE_BYTES / rows["total_misses_per_line"].min())
