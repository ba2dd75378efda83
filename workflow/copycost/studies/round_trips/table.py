"""Records of the study `round_trips` become two checked tables."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from copycost.records.reading import read_all
from copycost.records.table import make_table, write_table
from copycost.studies.round_trips.columns import CURVES, ROUND_TRIPS
from copycost.studies.round_trips.derive import curve_of, derive_round_trips


def collect_round_trips(
    paths: Sequence[Path], table_csv: Path, curves_csv: Path
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the records of the study and write the table of repetitions and that of percentiles.

    The first has one row per path, which says what repetition the record has to be; the second one
    per repetition that was measured and percentile of it. What becomes of a lost record: see
    `read_all`.
    """
    found = read_all(paths, lambda record: (derive_round_trips(record), curve_of(record)))
    table = make_table((row for row, _ in found), ROUND_TRIPS)
    curves = make_table((point for _, points in found for point in points), CURVES)
    write_table(table, table_csv, None, ROUND_TRIPS)
    write_table(curves, curves_csv, None, CURVES)
    return table, curves
