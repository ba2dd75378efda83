import csv
import math
from pathlib import Path

import pytest

from copycost.report.results_table import (
    NONE,
    THROUGHPUT,
    Tables,
    Value,
    Wording,
    read_tables,
    results_table,
)

WORDING = Wording("both_cpu_ns_per_byte", "ns", "two_copy", ("two_copy", "one_copy"))
NOTHING = Value(math.nan, math.nan, math.nan, 0, 3)


def summary(**changed: Value) -> Tables:
    values = {
        THROUGHPUT: Value(12.34e9, 11.9e9, 12.8e9, 3),
        "service_median_ns": Value(1234.0, 1200.0, 1300.0, 3),
        "service_p99_ns": Value(9876.0, 9000.0, 9999.0, 3),
        "both_cpu_ns_per_byte": Value(0.4321, 0.4, 0.5, 3),
    }
    found = {
        ("veth", threads, size, name, metric): value
        for threads in (1, 2)
        for size in (256, 4096)
        for name in ("one_copy", "two_copy")
        for metric, value in (values | changed).items()
    }
    ratios = {("veth", 1, 256, "one_copy"): 1.071, ("veth", 1, 4096, "one_copy"): math.nan}
    return Tables(found, ratios)


def rows(tables: Tables) -> list[list[str]]:
    markdown = results_table(tables, "veth", WORDING, {})
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
    assert results_table(summary(), "loopback", WORDING, {}) == ""


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (NOTHING, [NONE, NONE, "0 of 3"]),
        (Value(5e9, math.nan, math.nan, 1), ["5.00", NONE, "1"]),
        (Value(5e9, 0.1e9, 90e9, 2), ["5.00", "too wide", "2"]),
        (Value(12.34e9, 1.0e9, 99.0e9, 7, 0, 4, 12.2e9, 86.4e9),
         ["12.2 or 86.4", "two modes, 4 and 3", "7"]),
    ],
)  # fmt: skip
def test_a_value_is_shown_as_far_as_it_is_known(value: Value, shown: list[str]) -> None:
    row = rows(summary(**{THROUGHPUT: value}))[0]
    assert [row[2], row[3], row[8]] == shown


def test_what_zero_copy_turned_out_to_be_is_told_once_a_table() -> None:
    labels = {"two_copy": None, "one_copy": "zero-copy requested, 100 % copied"}
    markdown = results_table(summary(), "veth", WORDING, labels)
    assert markdown.count("`one_copy`†") == 4
    assert "`two_copy`†" not in markdown
    assert "`veth`. † zero-copy requested, 100 % copied. {#tbl" in markdown.replace("\xa0", " ")
    labels |= {"two_copy": "zero-copy requested, 5 % copied"}
    markdown = results_table(summary(), "veth", WORDING, labels)
    assert "† `two_copy`: zero-copy requested, 5 % copied and `one_copy`: zero-copy" in markdown


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
    value = tables.summary[("veth", 1, 256, "null", THROUGHPUT)]
    assert value.median == 1e9
    assert math.isnan(value.low)
    assert math.isnan(tables.ratios[("veth", 1, 256, "null")])
