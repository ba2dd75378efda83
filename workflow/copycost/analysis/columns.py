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
from copycost.records.column import Column, Definition, fact, grouped, number, text
from copycost.records.columns import CELLS

_BY_NAME = {column.name: column for column in CELLS.columns}
# the columns of CELL, as in the table of cells
_CELL = tuple(_BY_NAME[name] for name in CELL)
_IN_COMPARISON = (
    "study", "condition", "testbed", "working_set", "receiver", "placement", "msg_bytes",
    "n_threads", "implementation",
)  # fmt: skip


_OF = "of the metric"
SUMMARY = Definition(
    "table of medians",
    (
        *_CELL,
        *grouped(
            "Median and interval",
            fact("metric", "str", "", "Column of the table of cells that is summarised",
                 allowed=(*SUMMARISED, *SUMMARISED_OF_GUESTS, *SUMMARISED_OF_MACHINES)),
            fact("n", "int64", "count",
                 "Repetitions with a value; of a reference, also those beside it"),
            fact("n_failed", "int64", "count", "Repetitions that failed"),
            fact("n_skipped", "int64", "count", "Repetitions that were skipped"),
            number("median", _OF, "Median of the repetitions; none if n is 0"),
            number("low", _OF,
                   "Lower end of the median's interval; none if n is below 2; below 0 if values "
                   "near 0 vary widely", lowest=None),
            number("high", _OF, "Upper end of that interval"),
            number("confidence", "1", "Confidence of the interval", nullable=False, highest=1),
            fact("n_lower", "int64", "count",
                 "Repetitions in the lower of two clusters of throughput; 0 without clusters"),
            number("lower_mode", _OF, "Their median; none without clusters"),
            number("upper_mode", _OF, "Median of those in the upper cluster"),
        ),
    ),
    key=(*CELL, "metric"),
    sorted_by=tuple(CELL),
)  # fmt: skip

VERDICTS = (
    "faster", "slower", "cheaper", "more expensive", "more", "fewer", Direction.NO_DIFFERENCE.value,
    Direction.OBSERVED_ONCE.value, Direction.NOT_MEASURED.value,
)  # fmt: skip
RATIOS = Definition(
    "table of comparisons",
    (
        *(_BY_NAME[name] for name in _IN_COMPARISON),
        *grouped(
            "Comparison",
            fact("baseline", "str", "", "Implementation compared with"),
            fact("metric", "str", "", "Column of the table of cells that is compared",
                 allowed=tuple(dict.fromkeys((*COMPARED, *COMPARED_SENDER_ONLY)))),
            fact("n_pairs", "int64", "count", "Rounds in which both have a value"),
            number("ratio", "1", "Geometric mean, over the rounds, of implementation / baseline"),
            number("low", "1",
                   "Lower end of its interval, at the level at which Holm's method tests the row; "
                   "none if n_pairs is below 2"),
            number("high", "1", "Upper end of the same"),
            number("p_value", "1", "P-value of the test that the ratio is 1", highest=1),
            number("p_holm", "1",
                   "The same, corrected (Holm) for all sizes and thread counts of the same "
                   "condition, pair and metric", highest=1),
            fact("verdict", "str", "", "Verdict after that correction: by the interval",
                 allowed=VERDICTS),
        ),
    ),
    key=("condition", "implementation", "baseline", "metric", "msg_bytes", "n_threads"),
)  # fmt: skip

QUALITY = Definition(
    "table of quality",
    (
        *_CELL,
        *grouped(
            "How clean the measurements were",
            fact("n", "int64", "count", "Measured repetitions"),
            number("spread", "1", "Relative standard deviation of the throughput"),
            number("halves", "1",
                   "Difference between the window's halves, as a share of their mean; median of "
                   "the rounds"),
            number("drift", "1",
                   "Change of the throughput from the first round to the last, along a fitted "
                   "line"),
            number("retransmits_per_gigabyte", "1/GB", "Segments sent again"),
            number("min_running_percent", "%",
                   "Share of the window during which the event counted least was counted",
                   highest=100),
            *(
                fact(f"n_{code}", "int64", "count", f"Repetitions with the warning {code}")
                for code in DISTURBANCES
            ),
            text("disturbed_reps", "Numbers of these repetitions, joined by ;"),
            *(
                fact(f"flag_{gate.id}", "bool", "",
                     f"Whether {gate.column} is {gate.breaks} {gate.threshold:g}")
                for gate in GATES
            ),
        ),
    ),
    key=tuple(CELL),
)  # fmt: skip

FINDINGS = Definition(
    "table of findings",
    grouped(
        "Finding",
        fact("id", "int64", "", "Number of the row"),
        number("reason_of", "", "For a measured reason: id of the finding that it explains"),
        fact("question", "str", "", "Question answered",
             allowed=("fastest", "cheapest", "zero_copy", "misses", "threads", "crossover",
                      "expectation")),
        fact("condition", "str", "", "Condition for which it holds"),
        fact("is_round_trip", "bool", "", "Whether it is about requests and replies"),
        fact("subject", "str", "",
             "Way to send, or the ways if it is open between several; or expectation"),
        text("reference", "What it is compared with"),
        text("reference_condition", "Condition of the reference, if it is another one"),
        fact("quantity", "str", "", "Quantity compared, or a share"),
        Column("msg_bytes", "str", "bytes", "Size if it is about one, or from which to which"),
        Column("n_threads", "str", "count", "Thread counts, joined by a comma; none for all"),
        fact("verdict", "str", "", "What was found"),
        number("n_cells", "count", "Cells or comparisons"),
        number("n_better", "count", "Those in which the subject was better"),
        number("n_worse", "count", "Those in which it was worse"),
        number("below_bytes", "bytes", "Last size before the verdict turns"),
        number("above_bytes", "bytes", "First size after it turns"),
        Column("open_bytes", "str", "bytes", "Sizes that are open, joined by a comma"),
        number("estimate", "1", "Ratio to the reference, or the share; none if cells disagree"),
        number("low", "1", "Lower end of its interval"),
        number("high", "1", "Upper end of the same"),
        number("n", "count", "Repetitions behind it"),
        fact("correction", "str", "", "What the verdict and the interval allow for"),
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
