"""The checker of the table: one test per rule; and its files."""

from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import cast

import pandas as pd
import pytest
from sample_records import sample_record

from copycost.analysis.columns import QUALITY, RATIOS, SUMMARY
from copycost.errors import DataError
from copycost.records.column import KEY, Column, Definition, fact
from copycost.records.columns import CELLS
from copycost.records.derive import derive_row
from copycost.records.record import Record
from copycost.records.table import check_table, make_table, read_table, write_table
from copycost.studies.cpu_budget.records import CPU_BUDGET
from copycost.studies.datagrams.records import DATAGRAMS
from copycost.studies.profile.columns import SHARES
from copycost.studies.round_trips.table import CURVES, ROUND_TRIPS

SECOND_NS = 1_000_000_000


@cache
def whole_table() -> pd.DataFrame:
    records = [
        sample_record(rep=rep, start_ns=rep * 10 * SECOND_NS, status=status)
        for rep, status in enumerate(("measured", "failed", "skipped"), start=1)
    ]
    return make_table(derive_row(cast("Record", record)) for record in records)


@pytest.fixture
def table() -> pd.DataFrame:
    return whole_table().copy()


TEXTS = ("nan", "None", "NA", "null", "1", "a,b", 'say "x"', " x ", "two\nlines", "\u2028",
         "\ud7ff", "-inf", "#", "=1+1", "\\N", "\N{GRINNING FACE}")  # fmt: skip
NUMBERS = (0.0, 5e-324, 1e-7, 0.1 + 0.2, 1 / 3, 2.0**53 + 2, 1.7976931348623157e308)


def test_any_number_and_reason_survive_both_files(tmp_path: Path) -> None:
    # the name of a strategy is no gap
    row = derive_row(cast("Record", sample_record("null", status="failed", start_ns=2**62)))
    table = make_table(
        {**row, "rep": rep, "boot_id": str(rep), "wall_s": number, "reason": reason}
        for rep, (number, reason) in enumerate(product(NUMBERS, TEXTS), start=1)
    )
    write_table(table, tmp_path / "t.csv", tmp_path / "t.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv", "t.parquet"]
    for name in ("t.csv", "t.parquet"):
        pd.testing.assert_frame_equal(read_table(tmp_path / name), table, check_exact=True)


def _set(name: str, at: int, value: object) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def change(table: pd.DataFrame) -> pd.DataFrame:
        table.loc[at, name] = value
        return table

    return change


def _twice(table: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([table, table.head(1)], ignore_index=True)


# Row 0 was measured, row 1 failed, row 2 was skipped.
BREACHES: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = {
    "a column is missing": (lambda t: t.drop(columns="rep"), "columns missing: rep"),
    "a column is unknown": (lambda t: t.assign(colour="red"), "columns unknown: colour"),
    "columns are out of order": (lambda t: t[t.columns[::-1]], "not in the defined order"),
    "a dtype is another": (lambda t: t.astype({"rep": "float64"}), "rep is float64, must be int64"),
    "a key comes twice": (_twice, "more than one row for veth/two_copy/65536 B/1 threads/rep 1"),
    "rows are not sorted": (
        lambda t: t.iloc[::-1].reset_index(drop=True),
        "the rows are not sorted by study, testbed, implementation",
    ),
    "a value is missing": (_set("started_at", 0, None), "started_at is missing for veth/two_copy"),
    "a status is none of ours": (_set("status", 0, "fine"), "status is 'fine', must be one of"),
    "a number is negative": (_set("window_s", 0, -1.0), "window_s is -1.0, must be finite"),
    "a number is infinite": (_set("wall_s", 0, float("inf")), "wall_s is inf"),
    "a share is above 1": (_set("first_half_share", 0, 1.5), "and not above 1"),
    "a failure has no reason": (_set("reason", 1, None), "no reason for what was not measured"),
    "a failure has values": (_set("messages", 1, 5.0), "messages has a value though nothing"),
}


@pytest.mark.parametrize("rule", BREACHES)
def test_each_broken_rule_is_named_with_its_rows(table: pd.DataFrame, rule: str) -> None:
    change, sentence = BREACHES[rule]
    with pytest.raises(DataError) as raised:
        check_table(change(table), "cells.csv")
    assert str(raised.value).startswith("cells.csv: ")
    assert sentence in str(raised.value)


def test_a_file_that_is_no_table_is_named(tmp_path: Path) -> None:
    for name, content in (("a.csv", "x,y\n1,2\n"), ("b.csv", ""), ("c.parquet", "PAR0")):
        (tmp_path / name).write_text(content)
        with pytest.raises(DataError, match=name):
            read_table(tmp_path / name)
    with pytest.raises(DataError, match=r"none\.csv"):
        read_table(tmp_path / "none.csv")


def test_a_full_disk_is_one_sentence_and_leaves_no_file(
    tmp_path: Path, table: pd.DataFrame
) -> None:
    # /dev/full takes what is opened and fails every write with ENOSPC.
    (tmp_path / ".cells.csv.partial").symlink_to("/dev/full")
    with pytest.raises(DataError, match=r"cells\.csv: the table cannot be written .*No space left"):
        write_table(table, tmp_path / "cells.csv", tmp_path / "cells.parquet")
    assert list(tmp_path.iterdir()) == []


DEFINITIONS = {
    definition.what: definition
    for definition in (
        CELLS, SUMMARY, RATIOS, QUALITY, ROUND_TRIPS, CURVES, CPU_BUDGET, DATAGRAMS,
        *SHARES.values(),
    )
}  # fmt: skip


@pytest.mark.parametrize("what", DEFINITIONS)
def test_a_definition_is_whole_and_documented_and_a_table_without_rows_comes_back(
    what: str, tmp_path: Path
) -> None:
    definition = DEFINITIONS[what]
    assert len(set(definition.names)) == len(definition.names)
    assert set(definition.key) | set(definition.order) <= set(definition.names)
    for column in definition.columns:
        assert not column.description.endswith(".")
        if column.dtype in ("float64", "int64"):
            assert column.unit or column.name in KEY
        if column.dtype in ("bool", "int64"):
            assert not column.nullable
        if column.name in definition.key:
            assert not column.nullable
    path = tmp_path / "t.csv"
    write_table(pd.DataFrame(columns=list(definition.names)), path, None, definition)
    pd.testing.assert_frame_equal(read_table(path, definition), make_table([], definition))


def test_rows_without_a_repetition_are_named_by_their_key(tmp_path: Path) -> None:
    columns = fact("name", "str", "", "x", "g"), Column("n", "float64", "1", "x", "g")
    definition = Definition("table of colours", columns, key=("name",), sorted_by=())
    table = pd.DataFrame({"name": ["red", "blue"], "n": [1.0, -2.0]})
    with pytest.raises(DataError, match=r"n is -2\.0, must be finite and .*, for name blue"):
        write_table(table, tmp_path / "t.csv", None, definition)
    write_table(table.assign(n=1.0), tmp_path / "t.csv", None, definition)
    assert read_table(tmp_path / "t.csv", definition)["name"].tolist() == ["red", "blue"]
