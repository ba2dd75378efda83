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


def test_a_table_has_all_thread_counts_and_is_empty_without_cells() -> None:
    starts = [row[0] for row in rows(summary()) if row[0]]
    assert starts == ["256 B x 1", "4 KiB x 1", "256 B x 2", "4 KiB x 2"]
    assert results_table(summary(), "loopback", WORDING, {}) == ""


def test_values_are_shown_in_the_units_of_their_titles() -> None:
    assert rows(summary())[0] == [
        "256 B x 1", "`two_copy`", "12.3", "11.9 to 12.8", "1.23", "9.88", "0.432", NONE, "3",
    ]  # fmt: skip


def test_size_is_named_once_and_implementations_keep_their_order() -> None:
    assert [row[:2] for row in rows(summary())][:4] == [
        ["256 B x 1", "`two_copy`"],
        ["", "`one_copy`"],
        ["4 KiB x 1", "`two_copy`"],
        ["", "`one_copy`"],
    ]


def test_ratio_is_shown_where_there_is_one() -> None:
    assert [row[7] for row in rows(summary())][:4] == [NONE, "1.07", NONE, NONE]


def test_missing_values_are_dashes_and_never_lower_n_silently() -> None:
    tables = summary(**{THROUGHPUT: NOTHING, "service_median_ns": NOTHING})
    assert rows(tables)[0][2:5] == [NONE, NONE, NONE]
    assert rows(tables)[0][8] == "0 of 3"


def test_one_repetition_has_a_value_and_no_interval() -> None:
    once = Value(5e9, math.nan, math.nan, 1)
    assert rows(summary(**{THROUGHPUT: once}))[0][2:4] == ["5.00", NONE]


def test_interval_that_tells_nothing_is_not_quoted() -> None:
    wide = Value(5e9, 0.1e9, 90e9, 2)
    assert rows(summary(**{THROUGHPUT: wide}))[0][3] == "too wide"


def test_what_zero_copy_turned_out_to_be_is_told_once_a_table() -> None:
    labels = {"two_copy": None, "one_copy": "zero-copy requested, 100 % copied"}
    markdown = results_table(summary(), "veth", WORDING, labels)
    assert markdown.count("`one_copy`†") == 4
    assert "`two_copy`†" not in markdown
    assert "`veth`. † zero-copy requested, 100 % copied. {#tbl" in markdown.replace("\xa0", " ")
    labels |= {"two_copy": "zero-copy requested, 5 % copied"}
    markdown = results_table(summary(), "veth", WORDING, labels)
    assert "† `two_copy`: zero-copy requested, 5 % copied and `one_copy`: zero-copy" in markdown


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    head = {"condition": "veth", "n_threads": 1, "msg_bytes": 256}
    content = {
        "summary": head
        | {"implementation": "null", "metric": THROUGHPUT, "median": 1e9, "low": "", "high": ""}
        | {
            "n": 1,
            "n_failed": 0,
            "n_skipped": 0,
            "n_lower": "",
            "lower_mode": "",
            "upper_mode": "",
        },
        "ratios": head
        | {"implementation": "null", "baseline": "two_copy", "metric": THROUGHPUT, "ratio": ""},
    }
    paths = []
    for name, row in content.items():
        path = tmp_path / f"{name}.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            writer.writeheader()
            writer.writerow(row)
        paths.append(path)
    return paths[0], paths[1]


def test_empty_fields_are_missing_and_null_is_a_name(files: tuple[Path, Path]) -> None:
    tables = read_tables(*files, "two_copy")
    value = tables.summary[("veth", 1, 256, "null", THROUGHPUT)]
    assert value.median == 1e9
    assert math.isnan(value.low)
    assert math.isnan(tables.ratios[("veth", 1, 256, "null")])


def test_two_modes_stand_in_place_of_one_median() -> None:
    modes = Value(12.34e9, 1.0e9, 99.0e9, 7, 0, 4, 12.2e9, 86.4e9)
    row = rows(summary(**{THROUGHPUT: modes}))[0]
    assert row[2:4] == ["12.2 or 86.4", "two modes, 4 and 3"]
