"""The columns of the tables that are derived from the table of cells."""

from pathlib import Path

import pandas as pd

from copycost.analysis.conditions import CELL
from copycost.analysis.metrics import (
    COMPARED,
    COMPARED_SENDER_ONLY,
    SUMMARISED,
    SUMMARISED_OF_GUESTS,
    SUMMARISED_OF_MACHINES,
)
from copycost.analysis.quality_table import DISTURBANCES, GATES
from copycost.analysis.stats.ratios import Direction
from copycost.records import table as tables
from copycost.records.column import Column, Definition, fact
from copycost.records.columns import CELLS

_BY_NAME = {column.name: column for column in CELLS.columns}
# the columns of CELL, as in the table of cells
_CELL = tuple(_BY_NAME[name] for name in CELL)
_IN_COMPARISON = (
    "study", "condition", "testbed", "working_set", "receiver", "placement", "msg_bytes",
    "n_threads", "implementation",
)  # fmt: skip


_SUMMARY = "Median and interval"
SUMMARY = Definition(
    "table of medians",
    (
        *_CELL,
        Column("metric", "str", "", "Column of the table of cells that is summarised", _SUMMARY,
               nullable=False, always=True,
               allowed=(*SUMMARISED, *SUMMARISED_OF_GUESTS, *SUMMARISED_OF_MACHINES)),
        fact("n", "int64", "count",
             "Repetitions with a value; of a reference, also those beside it", _SUMMARY),
        fact("n_failed", "int64", "count", "Repetitions that failed", _SUMMARY),
        fact("n_skipped", "int64", "count", "Repetitions that were skipped", _SUMMARY),
        Column("median", "float64", "of the metric", "Median of the repetitions; none if n is 0",
               _SUMMARY),
        Column("low", "float64", "of the metric",
               "Lower end of the median's interval; none if n is below 2; below 0 if values near 0 "
               "vary widely", _SUMMARY, lowest=None),
        Column("high", "float64", "of the metric", "Upper end of that interval", _SUMMARY),
        Column("confidence", "float64", "1", "Confidence of the interval", _SUMMARY,
               nullable=False, highest=1),
        fact("n_lower", "int64", "count",
             "Repetitions in the lower of two clusters of throughput; 0 without clusters",
             _SUMMARY),
        Column("lower_mode", "float64", "of the metric", "Their median; none without clusters",
               _SUMMARY),
        Column("upper_mode", "float64", "of the metric", "Median of those in the upper cluster",
               _SUMMARY),
    ),
    key=(*CELL, "metric"),
    sorted_by=tuple(CELL),
)  # fmt: skip

_COMPARISON = "Comparison"
VERDICTS = (
    "faster", "slower", "cheaper", "more expensive", "more", "fewer", Direction.NO_DIFFERENCE.value,
    Direction.OBSERVED_ONCE.value, Direction.NOT_MEASURED.value,
)  # fmt: skip
RATIOS = Definition(
    "table of comparisons",
    (
        *(_BY_NAME[name] for name in _IN_COMPARISON),
        fact("baseline", "str", "", "Implementation compared with", _COMPARISON),
        Column("metric", "str", "", "Column of the table of cells that is compared", _COMPARISON,
               nullable=False, always=True,
               allowed=tuple(dict.fromkeys((*COMPARED, *COMPARED_SENDER_ONLY)))),
        fact("n_pairs", "int64", "count", "Rounds in which both have a value", _COMPARISON),
        Column("ratio", "float64", "1",
               "Geometric mean, over the rounds, of implementation / baseline", _COMPARISON),
        Column("low", "float64", "1",
               "Lower end of its interval, at the level at which Holm's method tests the "
               "row; none if n_pairs is below 2", _COMPARISON),
        Column("high", "float64", "1", "Upper end of the same", _COMPARISON),
        Column("p_value", "float64", "1", "P-value of the test that the ratio is 1", _COMPARISON,
               highest=1),
        Column("p_holm", "float64", "1",
               "The same, corrected (Holm) for all sizes and thread counts of the same condition, "
               "pair and metric", _COMPARISON, highest=1),
        Column("verdict", "str", "", "Verdict after that correction: by the interval",
               _COMPARISON, nullable=False, always=True, allowed=VERDICTS),
    ),
    key=("condition", "implementation", "baseline", "metric", "msg_bytes", "n_threads"),
)  # fmt: skip

_QUALITY = "How clean the measurements were"
QUALITY = Definition(
    "table of quality",
    (
        *_CELL,
        fact("n", "int64", "count", "Measured repetitions", _QUALITY),
        Column("spread", "float64", "1", "Relative standard deviation of the throughput", _QUALITY),
        Column("halves", "float64", "1",
               "Difference between the window's halves, as a share of their mean; median of the "
               "rounds", _QUALITY),
        Column("drift", "float64", "1",
               "Change of the throughput from the first round to the last, along a fitted line",
               _QUALITY),
        Column("retransmits_per_gigabyte", "float64", "1/GB", "Segments sent again", _QUALITY),
        Column("min_running_percent", "float64", "%",
               "Share of the window during which the event counted least was counted", _QUALITY,
               highest=100),
        *(
            fact(f"n_{code}", "int64", "count",
                 f"Repetitions with the warning {code}", _QUALITY)
            for code in DISTURBANCES
        ),
        Column("disturbed_reps", "str", "", "Numbers of these repetitions, joined by ;", _QUALITY),
        *(
            fact(f"flag_{gate.id}", "bool", "",
                 f"Whether {gate.column} is {gate.breaks} {gate.threshold:g}", _QUALITY)
            for gate in GATES
        ),
    ),
    key=tuple(CELL),
)  # fmt: skip

_FINDING = "Finding"
FINDINGS = Definition(
    "table of findings",
    (
        fact("id", "int64", "", "Number of the row", _FINDING),
        Column("reason_of", "float64", "",
               "For a measured reason: id of the finding that it explains", _FINDING),
        Column("question", "str", "", "Question answered", _FINDING, nullable=False, always=True,
               allowed=("fastest", "cheapest", "zero_copy", "misses", "threads", "crossover",
                        "expectation")),
        fact("condition", "str", "", "Condition for which it holds", _FINDING),
        fact("is_round_trip", "bool", "", "Whether it is about requests and replies", _FINDING),
        fact("subject", "str", "",
             "Way to send, or the ways if it is open between several; or expectation", _FINDING),
        Column("reference", "str", "", "What it is compared with", _FINDING),
        Column("reference_condition", "str", "",
               "Condition of the reference, if it is another one", _FINDING),
        fact("quantity", "str", "", "Quantity compared, or a share",
             _FINDING),
        Column("msg_bytes", "str", "bytes", "Size if it is about one, or from which to which",
               _FINDING),
        Column("n_threads", "str", "count", "Thread counts, joined by a comma; none for all",
               _FINDING),
        fact("verdict", "str", "", "What was found", _FINDING),
        Column("n_cells", "float64", "count", "Cells or comparisons",
               _FINDING),
        Column("n_better", "float64", "count", "Those in which the subject was better", _FINDING),
        Column("n_worse", "float64", "count", "Those in which it was worse", _FINDING),
        Column("below_bytes", "float64", "bytes", "Last size before the verdict turns", _FINDING),
        Column("above_bytes", "float64", "bytes", "First size after it turns", _FINDING),
        Column("open_bytes", "str", "bytes", "Sizes that are open, joined by a comma", _FINDING),
        Column("estimate", "float64", "1",
               "Ratio to the reference, or the share; none if cells disagree", _FINDING),
        Column("low", "float64", "1", "Lower end of its interval", _FINDING),
        Column("high", "float64", "1", "Upper end of the same", _FINDING),
        Column("n", "float64", "count", "Repetitions behind it", _FINDING),
        fact("correction", "str", "", "What the verdict and the interval allow for", _FINDING),
    ),
    key=("id",),
)  # fmt: skip


_TABLES = {"summary": SUMMARY, "ratios": RATIOS, "quality": QUALITY, "findings": FINDINGS}


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Check a table and write it as CSV, numbers in full; see `copycost.records.table`."""
    tables.write_table(table, path, None, _TABLES[path.stem])


def read_table(path: Path) -> pd.DataFrame:
    """Read what `write_table` wrote and check it; see `copycost.records.table`."""
    return tables.read_table(path, _TABLES[path.stem])
