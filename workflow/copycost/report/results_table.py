"""The full table of the results of a condition: a row per thread count, size and implementation."""

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from copycost.report.markdown import Column, pipe_table, slug
from copycost.report.marks import Labels, marked, note_of
from copycost.wording.filters import significant, size
from copycost.wording.sources import sourced

NONE = "---"
"""A dash where there is no value; the table of what was not measured has the reason."""

THROUGHPUT = "throughput_bits_per_s"
_TIMES = ("service_median_ns", "service_p99_ns")

VAGUE_FACTOR = 20.0
VAGUE = "too wide"
"""Stands for an interval whose ends are further apart than this: its digits tell nothing."""


@dataclass(frozen=True, slots=True)
class Value:
    """One row of summary.csv: SI units, NaN where nothing was measured.

    `n` repetitions have a value, `n_without` failed or were skipped. `n_lower` of them have
    the median `lower`, the others `upper`; 0 where they do not fall into two clusters.
    """

    median: float
    low: float
    high: float
    n: int
    n_without: int = 0
    n_lower: int = 0
    lower: float = math.nan
    upper: float = math.nan


@dataclass(frozen=True, slots=True)
class Tables:
    """What the tables of results are made of.

    Attributes
    ----------
    summary
        Values by (condition, n_threads, msg_bytes, implementation, metric), in the file's order.
    ratios
        Throughput relative to the baseline by (condition, n_threads, msg_bytes, implementation).
    """

    summary: Mapping[tuple[str, int, int, str, str], Value]
    ratios: Mapping[tuple[str, int, int, str], float]


@dataclass(frozen=True, slots=True)
class Wording:
    """What the tables say apart from the numbers.

    Attributes
    ----------
    cost_metric, cost_unit
        Cost per byte, such as ``both_cpu_ns_per_byte`` and ``ns``; of both sides, or of the
        sender where nobody receives.
    baseline
        The implementation that others are compared with.
    implementations
        In the order in which they are shown.
    place
        Where they were measured, as captions have it; empty where the condition says all.
    """

    cost_metric: str
    cost_unit: str
    baseline: str
    implementations: tuple[str, ...]
    place: str = ""


def read_tables(summary: Path, ratios: Path, baseline: str) -> Tables:
    """Read summary.csv and, of ratios.csv, the throughput relative to `baseline`."""
    values = {
        (
            row["condition"],
            int(row["n_threads"]),
            int(row["msg_bytes"]),
            row["implementation"],
            row["metric"],
        ): Value(
            median=_float(row, "median"),
            low=_float(row, "low"),
            high=_float(row, "high"),
            n=sourced(int(row["n"]), f"{row['line']}, n"),
            n_without=int(row["n_failed"]) + int(row["n_skipped"]),
            n_lower=int(row["n_lower"] or 0),
            lower=_float(row, "lower_mode"),
            upper=_float(row, "upper_mode"),
        )
        for row in _rows_of(summary)
    }
    relative = {
        (
            row["condition"],
            int(row["n_threads"]),
            int(row["msg_bytes"]),
            row["implementation"],
        ): _float(row, "ratio")
        for row in _rows_of(ratios)
        if row["metric"] == THROUGHPUT and row["baseline"] == baseline
    }
    return Tables(values, relative)


def results_table(tables: Tables, condition: str, wording: Wording, labels: Labels) -> str:
    """Return the full results of one condition in Markdown; empty where there are none.

    Parameters
    ----------
    tables
        From `read_tables`.
    condition
        The condition.
    wording
        Which cost and baseline.
    labels
        What zero-copy sends turned out to be, told once a table.
    """
    columns = [
        Column("Message \N{MULTIPLICATION SIGN} threads"),
        Column("Implementation"),
        Column("Gbit/s", "right"),
        Column("interval", "right"),
        Column("p50 [µs]", "right"),
        Column("p99 [µs]", "right"),
        Column(f"{wording.cost_unit} per byte", "right"),
        Column("ratio", "right"),
        Column("n", "right"),
    ]
    rows = list(_rows(tables, condition, wording, labels))
    if not rows:
        return ""
    caption = f"All cells on {wording.place or f'`{condition}`'}.{note_of(labels)}"
    return pipe_table(columns, rows, caption, f"tbl-cells-{slug(condition)}", ["grouped", "cells"])


def _rows(tables: Tables, condition: str, wording: Wording, labels: Labels) -> Iterator[list[str]]:
    order = wording.implementations.index
    cells = {key[1:4] for key in tables.summary if key[0] == condition}
    previous = None
    for n_threads, msg_bytes, implementation in sorted(
        cells, key=lambda cell: (*cell[:2], order(cell[2]))
    ):
        cell = (condition, n_threads, msg_bytes, implementation)
        throughput, median, p99, cost = (
            tables.summary[(*cell, metric)] for metric in (THROUGHPUT, *_TIMES, wording.cost_metric)
        )
        relative = tables.ratios.get(cell, math.nan)
        yield [
            ""
            if cell[:3] == previous
            else f"{size(msg_bytes)} \N{MULTIPLICATION SIGN} {n_threads}",
            marked(implementation, labels),
            *_middle(throughput, 1e-9),
            *(_number(time.median, 1e-3) for time in (median, p99)),
            _number(cost.median),
            NONE if math.isnan(relative) else f"{relative:.2f}",
            _repetitions(throughput),
        ]
        previous = cell[:3]


def _number(value: float, scale: float = 1.0) -> str:
    return NONE if math.isnan(value) else significant(value * scale)


def _middle(value: Value, scale: float) -> tuple[str, str]:
    """Return a median and its interval, or the medians of two clusters and how many are in each."""
    if not value.n_lower:
        return _number(value.median, scale), _interval(value, scale)
    modes = f"{significant(value.lower * scale)} or {significant(value.upper * scale)}"
    return modes, f"two modes, {value.n_lower} and {value.n - value.n_lower}"


def _interval(value: Value, scale: float) -> str:
    if math.isnan(value.low) or math.isnan(value.high):
        return NONE
    if value.high > VAGUE_FACTOR * value.low:
        return VAGUE
    return f"{significant(value.low * scale)} to {significant(value.high * scale)}"


def _repetitions(value: Value) -> str:
    return f"{value.n} of {value.n + value.n_without}" if value.n_without else f"{value.n}"


def _float(row: dict[str, str], column: str) -> float:
    text = row[column]
    value: float = sourced(float(text), f"{row['line']}, {column}") if text else math.nan
    return value


def _rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table, and where each stands as a column ``line``."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            row | {"line": f"tables/{path.name}: line {number}"}
            for number, row in enumerate(csv.DictReader(file), start=2)
        ]
