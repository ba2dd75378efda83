"""Shares, their scale and their intervals, against made profiles of which all is known."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from unit.studies.profile.made import (
    BOTH,
    LISTS,
    RECEIVER,
    SENDER,
    SETTINGS,
    ZERO_COPY,
    Cell,
    config,
    facts_of,
    repetitions_of,
)

from copycost.errors import ParseError
from copycost.observers.perf.stacks import Stacks
from copycost.records.table import read_table, write_table
from copycost.studies.profile.columns import SHARE_TABLES, SHARES
from copycost.studies.profile.differences import rounds_of
from copycost.studies.profile.facts import profile_facts
from copycost.studies.profile.folded import read_folded, write_folded
from copycost.studies.profile.tables import share_table

CELLS = [
    Cell("two_copy", BOTH, wobble=(1.0, 1.0, 1.0)),
    Cell("zero_copy", {"sender": ZERO_COPY, "receiver": RECEIVER}, repetitions=1),
    Cell("one_copy", {}, status="failed", reason="died", remedy="again"),
]


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    repetitions = repetitions_of(CELLS)
    return {name: share_table(name, repetitions, LISTS, SETTINGS) for name in SHARE_TABLES}


def one(table: pd.DataFrame, **where: object) -> pd.Series:
    for column, value in where.items():
        table = table[table[column] == value]
    assert len(table) == 1
    return table.iloc[0]


def test_every_table_is_as_it_is_defined(tables: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    for name, table in tables.items():
        write_table(table, tmp_path / f"{name}.csv", None, SHARES[name])
        again = read_table(tmp_path / f"{name}.csv", SHARES[name])
        pd.testing.assert_frame_equal(again, table, check_dtype=False, check_exact=True)


def test_shares_are_scaled_to_the_side_s_cpu_use(tables: dict[str, pd.DataFrame]) -> None:
    row = one(
        tables["profile_categories"], implementation="two_copy", side="sender", category="copy"
    )
    assert row["own_share"] == pytest.approx(0.5, abs=0.001)
    assert row["own_cpu_percent"] == pytest.approx(0.5 * 80, abs=0.1)  # 0.8 s of a 1 s window
    assert row["own_ns_per_kib"] == pytest.approx(0.5 * 0.8e9 / (2e9 / 1024), abs=0.5)


def test_no_interval_holds_more_cpus_than_there_are_threads() -> None:
    restless = Cell("two_copy", {"sender": SENDER}, wobble=(1.2, 0.3, 0.9))
    table = share_table("profile_paths", repetitions_of([restless]), LISTS, SETTINGS)
    assert table["inclusive_cpu_percent_high"].max() == 100.0


def test_a_window_without_a_byte_has_shares_and_no_cost() -> None:
    idle = repetitions_of([Cell("two_copy", {"sender": SENDER}, gigabytes=0.0)])
    table = share_table("profile_categories", idle, LISTS, SETTINGS)
    assert table["own_share"].sum() == pytest.approx(1.0)
    assert table["own_ns_per_kib"].isna().all()


def test_work_on_acknowledgements_is_what_goes_through_it() -> None:
    (cell,) = facts_of([Cell("two_copy", BOTH)])["cells"]
    found = {side: it["acknowledging"]["median"] for side, it in cell["sides"].items()}
    # tcp_ack, and __tcp_transmit_skb with what it calls
    assert found == pytest.approx({"sender": 0.10, "receiver": 0.10}, abs=0.001)


def test_a_path_holds_what_is_below_it(tables: dict[str, pd.DataFrame]) -> None:
    table = tables["profile_paths"]
    rows = table[(table["implementation"] == "two_copy") & (table["side"] == "sender")]
    caller = rows["call_path"].str.rpartition(";")[0]
    below = rows.groupby(caller)["inclusive_share"].sum()
    expected = rows["own_share"] + rows["call_path"].map(below).fillna(0.0)
    assert rows["inclusive_share"].to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-9)


def test_chains_are_found_by_the_names_of_this_kernel(tables: dict[str, pd.DataFrame]) -> None:
    chains = tables["profile_chains"]
    path = "tcp_sendmsg;tcp_sendmsg_locked;skb_do_copy_data"
    row = one(chains, implementation="two_copy", side="sender", call_path=path)
    assert row["inclusive_share"] == pytest.approx(0.5, abs=0.001)  # as _copy_from_iter
    assert not ((chains["implementation"] == "zero_copy") & (chains["call_path"] == path)).any()


def test_one_repetition_gives_no_interval_and_shares_stay_shares(
    tables: dict[str, pd.DataFrame],
) -> None:
    for table in tables.values():
        once = table["implementation"] == "zero_copy"
        ends = table[["inclusive_share_low", "inclusive_share_high"]]
        assert ends[once].isna().all(axis=None)
        assert ((ends >= 0) & (ends <= 1))[~once].all(axis=None)


SAMPLED = {"sender": Stacks(Counter(dict.fromkeys(SENDER, 10)), 100)}


def test_stacks_come_back_the_same_from_the_same_file_and_broken_ones_are_named(
    tmp_path: Path,
) -> None:
    first, second = tmp_path / "a", tmp_path / "rep=1.folded.gz"
    for path in (first, second):
        write_folded(SAMPLED, path)
    assert first.read_bytes() == second.read_bytes()
    assert {";".join(stack) for stack in read_folded(first)["sender"]} == set(SENDER)
    whole = second.read_bytes()
    changed = (whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(10, 40))
    for damaged in (whole[:-20], *changed):
        second.write_bytes(damaged)
        with pytest.raises(ParseError, match=r"rep=1\.folded\.gz"):
            read_folded(second)


def test_a_difference_is_that_of_a_repetition_and_the_reference_beside_it() -> None:
    first, alone = (repetitions_of([Cell(name, BOTH)]) for name in ("two_copy", "one_copy"))
    beside = repetitions_of([Cell("two_copy", BOTH, wobble=(1.0, 1.5, 0.7))])
    second = [replace(one, reference=its) for one, its in zip(alone, beside, strict=True)]
    wished = config(differences=(("two_copy", "one_copy"),)).profile
    (facts,) = profile_facts([*first, *second], wished, LISTS, SETTINGS)["differences"]
    expected = sum(one.run.ns_per_kib(side) for one in beside for side in BOTH) / 3
    assert facts["account"]["before"] == pytest.approx(expected)
    assert facts["account"]["unsampled"]["n"] == 3
    cells = {first[0].key: first, alone[0].key: [replace(one, reference=one) for one in alone]}
    assert [one for one, _ in rounds_of(cells, (first[0].key, alone[0].key))] == first
