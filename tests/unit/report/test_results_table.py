"""The table of all cells: from the CSV files to rows in Markdown."""

import csv
from pathlib import Path

import pytest

from copycost.report.results_table import THROUGHPUT, Tables, read_tables, results_table
from copycost.report.values import NONE

NAMES = ("two_copy", "one_copy")
CONDITION = {"slug": "veth", "cost_column": "both_cpu_ns_per_byte", "labels": {}}


def value(median: float | None, low: float | None, high: float | None, n: int = 3) -> dict:
    return {"median": median, "low": low, "high": high, "n": n, "n_failed": 0, "n_skipped": 0,
            "n_lower": 0, "lower_mode": None, "upper_mode": None}  # fmt: skip


def summary(**changed: dict) -> Tables:
    values = {
        THROUGHPUT: value(12.34e9, 11.9e9, 12.8e9),
        "service_median_ns": value(1234.0, 1200.0, 1300.0),
        "service_p99_ns": value(9876.0, 9000.0, 9999.0),
        "both_cpu_ns_per_byte": value(0.4321, 0.4, 0.5),
    }
    found = {
        (("veth", threads, size, name), metric): one
        for threads in (1, 2)
        for size in (256, 4096)
        for name in reversed(NAMES)
        for metric, one in (values | changed).items()
    }
    ratios = {("veth", 1, 256, "one_copy"): 1.071, ("veth", 1, 4096, "one_copy"): None}
    return Tables(found, ratios)


def rows(tables: Tables) -> list[list[str]]:
    markdown = results_table(tables, CONDITION, "ns", NAMES)
    body = [line for line in markdown.splitlines() if line.startswith("|")][2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in body]
    return [[cell.replace("\u00a0", " ").replace("\u00d7", "x") for cell in row] for row in cells]


def test_rows_have_units_of_their_titles_and_name_a_size_once() -> None:
    found = rows(summary())
    assert [row[:2] for row in found][:4] == [
        ["256 B x 1", "`two_copy`"],
        ["", "`one_copy`"],
        ["4 KiB x 1", "`two_copy`"],
        ["", "`one_copy`"],
    ]
    assert [row[0] for row in found[4:] if row[0]] == ["256 B x 2", "4 KiB x 2"]
    assert found[0][2:] == ["12.3", "11.9 to 12.8", "1.23", "9.88", "0.432", NONE, "3"]
    assert [row[7] for row in found][:4] == [NONE, "1.07", NONE, NONE]
    assert results_table(summary(), CONDITION | {"slug": "loopback"}, "ns", NAMES) == ""


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (value(None, None, None, 0) | {"n_failed": 3}, [NONE, NONE, "0 of 3"]),
        (value(5e9, None, None, 1), ["5.00", NONE, "1"]),
        (value(5e9, 0.1e9, 90e9, 2), ["5.00", "too wide", "2"]),
        (value(12e9, 1e9, 99e9, 7) | {"n_lower": 4, "lower_mode": 12.2e9, "upper_mode": 86.4e9},
         ["12.2 or 86.4", "two modes, 4 and 3", "7"]),
    ],
)  # fmt: skip
def test_a_value_is_shown_as_far_as_it_is_known(found: dict, shown: list[str]) -> None:
    row = rows(summary(**{THROUGHPUT: found}))[0]
    assert [row[2], row[3], row[8]] == shown


def test_what_zero_copy_turned_out_to_be_is_told_once_a_table() -> None:
    labels = {"two_copy": None, "one_copy": "zero-copy requested, 100 % copied"}
    markdown = results_table(summary(), CONDITION | {"labels": labels}, "ns", NAMES)
    assert markdown.count("`one_copy`†") == 4
    assert "`two_copy`†" not in markdown
    assert "`veth`. † zero-copy requested, 100 % copied. {#tbl" in markdown.replace("\xa0", " ")


def test_empty_fields_are_missing_and_null_is_a_name(tmp_path: Path) -> None:
    head = {"condition": "veth", "n_threads": 1, "msg_bytes": 256, "implementation": "null"}
    head |= {"metric": THROUGHPUT}
    counts = {"n": 1, "n_failed": 0, "n_skipped": 0}
    modes = dict.fromkeys(("low", "high", "n_lower", "lower_mode", "upper_mode"), "")
    content = {
        "summary": head | {"median": 1e9} | counts | modes,
        "ratios": head | {"baseline": "two_copy", "ratio": ""},
    }
    for name, row in content.items():
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            writer.writeheader()
            writer.writerow(row)
    tables = read_tables(tmp_path / "summary.csv", tmp_path / "ratios.csv", "two_copy")
    found = tables.summary[("veth", 1, 256, "null"), THROUGHPUT]
    assert (found["median"], found["low"], found["n_lower"]) == (1e9, None, 0)
    assert tables.ratios["veth", 1, 256, "null"] is None
