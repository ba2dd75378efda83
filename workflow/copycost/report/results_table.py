"""The full table of the results of a condition: a row per thread count, size and implementation."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copycost.report.markdown import pipe_table, slug
from copycost.report.values import NONE, interval, marked, median, note_of, place
from copycost.wording.filters import significant, size
from copycost.wording.sources import sourced

Cell = tuple[str, int, int, str]
Numbers = Mapping[str, Any]

THROUGHPUT = "throughput_bits_per_s"
_TIMES = ("service_median_ns", "service_p99_ns")
_VALUES = ("median", "low", "high", "lower_mode", "upper_mode")
_COUNTS = ("n", "n_failed", "n_skipped", "n_lower")


@dataclass(frozen=True, slots=True)
class Tables:
    """What the tables of results are made of; numbers in SI units, None where there are none.

    A cell is its condition, thread count, size and implementation. `summary` has rows of
    summary.csv by cell and metric, `ratios` the throughput relative to the baseline by cell.
    """

    summary: Mapping[tuple[Cell, str], Numbers]
    ratios: Mapping[Cell, float | None]


def read_tables(summary: Path, ratios: Path, baseline: str) -> Tables:
    """Read summary.csv and, of ratios.csv, the throughput relative to `baseline`."""
    return Tables(
        {
            (_cell(row), row["metric"]): {name: _float(row, name) for name in _VALUES}
            | {name: sourced(int(row[name] or 0), f"{row['line']}, {name}") for name in _COUNTS}
            for row in _rows_of(summary)
        },
        {
            _cell(row): _float(row, "ratio")
            for row in _rows_of(ratios)
            if row["metric"] == THROUGHPUT and row["baseline"] == baseline
        },
    )


def results_table(
    tables: Tables, condition: Mapping[str, Any], cost_unit: str, implementations: Sequence[str]
) -> str:
    """Return the full results of one condition in Markdown; empty where there are none.

    Parameters
    ----------
    condition
        Its facts.
    cost_unit
        Of the cost per byte.
    implementations
        In the order in which they are shown.
    """
    titles = ["Message \N{MULTIPLICATION SIGN} threads", "Implementation", ">Gbit/s", ">interval",
              ">p50 [µs]", ">p99 [µs]", f">{cost_unit} per byte", ">ratio", ">n"]  # fmt: skip
    rows = list(_rows(tables, condition, implementations))
    if not rows:
        return ""
    caption = f"All cells on {place(condition)}.{note_of(condition['labels'])}"
    identifier = f"tbl-cells-{slug(condition['slug'])}"
    return pipe_table(titles, rows, caption, identifier, ["grouped", "cells"])


def _rows(
    tables: Tables, condition: Mapping[str, Any], implementations: Sequence[str]
) -> Iterator[list[str]]:
    cells = {cell for cell, _ in tables.summary if cell[0] == condition["slug"]}
    previous = None
    for cell in sorted(cells, key=lambda cell: (*cell[:3], implementations.index(cell[3]))):
        _, n_threads, msg_bytes, implementation = cell
        metrics = (THROUGHPUT, *_TIMES, condition["cost_column"])
        throughput, p50, p99, cost = (tables.summary[cell, metric] for metric in metrics)
        relative = tables.ratios.get(cell)
        head = f"{size(msg_bytes)} \N{MULTIPLICATION SIGN} {n_threads}"
        yield [
            "" if cell[:3] == previous else head,
            marked(implementation, condition["labels"]),
            *_middle(throughput),
            median(p50, 1e-3),
            median(p99, 1e-3),
            median(cost),
            NONE if relative is None else f"{relative:.2f}",
            _repetitions(throughput),
        ]
        previous = cell[:3]


def _middle(found: Numbers) -> tuple[str, str]:
    """Return a median [Gbit/s] and its interval, or two medians and how many are around each.

    The latter where the repetitions fall into two clusters.
    """
    if not found["n_lower"]:
        return median(found, 1e-9), interval(found, 1e-9)
    lower, upper = (significant(found[name] * 1e-9) for name in ("lower_mode", "upper_mode"))
    n_lower = found["n_lower"]
    return f"{lower} or {upper}", f"two modes, {n_lower} and {found['n'] - n_lower}"


def _repetitions(found: Numbers) -> str:
    without = int(found["n_failed"]) + int(found["n_skipped"])
    return f"{found['n']} of {found['n'] + without}" if without else f"{found['n']}"


def _cell(row: Mapping[str, str]) -> Cell:
    return row["condition"], int(row["n_threads"]), int(row["msg_bytes"]), row["implementation"]


def _float(row: Mapping[str, str], column: str) -> float | None:
    text = row[column]
    return sourced(float(text), f"{row['line']}, {column}") if text else None


def _rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table, and where each stands as a column ``line``."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            row | {"line": f"tables/{path.name}: line {number}"}
            for number, row in enumerate(csv.DictReader(file), start=2)
        ]
