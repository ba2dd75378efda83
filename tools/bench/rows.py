"""What the benchmark found, row by row, as a table for people and as JSON for programs."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Literal

import numpy as np

from copycost.analysis.stats.estimates import median_intervals
from copycost.analysis.stats.settings import StatisticsSettings

SCHEMA_VERSION = 2
_STATISTICS = StatisticsSettings(confidence=0.95)  # which the heading of the table states


@dataclass(frozen=True, slots=True)
class Limit:
    """What a value should not pass: `at_least` or `at_most` so much, in the value's unit."""

    bound: Literal["at_least", "at_most"]
    value: float

    def holds(self, value: float) -> bool:
        """Return whether a value keeps the limit."""
        return value >= self.value if self.bound == "at_least" else value <= self.value

    def __str__(self) -> str:
        """Return the limit as the table shows it."""
        return f"{'>=' if self.bound == 'at_least' else '<='} {format_value(self.value)}"


@dataclass(frozen=True, slots=True)
class Row:
    """One finding: its part of the benchmark, and what was measured in it.

    The value (a median where there were rounds) is None where it could not be measured; the unit of
    a ratio is empty. `low` and `high` are the 95 % interval of the median, None where there was
    only one round; a row without a limit only informs. The note says what the value is made of, or
    why there is none.
    """

    group: str
    name: str
    value: float | None
    unit: str
    n: int = 1
    low: float | None = None
    high: float | None = None
    limit: Limit | None = None
    note: str = ""

    @property
    def unsure(self) -> bool:
        """Whether the interval reaches to both sides of the limit."""
        if self.limit is None or self.low is None or self.high is None:
            return False
        return self.limit.holds(self.low) != self.limit.holds(self.high)

    @property
    def verdict(self) -> str:
        """`ok`, `under` or `over`; `unsure` where the interval reaches to both sides."""
        if self.value is None:
            return "not measured"
        if self.limit is None:
            return ""
        if self.unsure:
            return "unsure"
        if self.limit.holds(self.value):
            return "ok"
        return "under" if self.limit.bound == "at_least" else "over"


def row_of_rounds(
    group: str,
    name: str,
    rounds: Sequence[float],
    unit: str,
    limit: Limit | None = None,
    note: str = "",
) -> Row:
    """Return the row of a value that was measured in rounds: their median and its interval."""
    found = median_intervals(np.array([rounds], dtype=np.float64), _STATISTICS)
    row = Row(group, name, float(found.median[0]), unit, len(rounds), limit=limit, note=note)
    if len(rounds) < 2:
        return row
    return replace(row, low=float(found.low[0]), high=float(found.high[0]))


def format_value(value: float | None) -> str:
    """Return a value with three significant digits, or a dash where there is none."""
    if value is None:
        return "-"
    if value == 0 or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:#.3g}"


_HEADINGS = ("", "value", "95 % interval", "n", "limit", "verdict", "")


def table_of(rows: Iterable[Row]) -> str:
    """Return the rows as a table of plain text, a heading line per group."""
    groups = [(name, [*map(_cells, of)]) for name, of in groupby(rows, lambda row: row.group)]
    cells = [_HEADINGS, *(line for _, lines in groups for line in lines)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    told = [_aligned(_HEADINGS, widths)]
    for name, lines in groups:
        told += [name, *(_aligned(line, widths) for line in lines)]
    return "\n".join(told)


def _cells(row: Row) -> tuple[str, ...]:
    interval = ""
    if row.low is not None:
        interval = f"{format_value(row.low)} to {format_value(row.high)}"
    return (
        f"  {row.name}",
        f"{format_value(row.value)} {row.unit}".strip(),
        interval,
        str(row.n),
        str(row.limit or ""),
        row.verdict,
        row.note,
    )


def _aligned(line: tuple[str, ...], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()


def write_rows(rows: Iterable[Row], host: dict[str, object], path: Path) -> None:
    """Write the rows, with the host that they were measured on, as JSON."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "host": host,
        "rows": [asdict(row) | {"verdict": row.verdict or None} for row in rows],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n")
