"""How clean the measurements were is told, and nothing is left out for it."""

from dataclasses import replace
from pathlib import Path

import pytest
from analysed import facts_of
from synthetic import Run, make_cells

from copycost.analysis.columns import read_table, write_table
from copycost.analysis.json_values import Facts
from copycost.analysis.quality_table import quality_table
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.analysis.tables import summarise

pytestmark = pytest.mark.slow

SMALL = {"msg_bytes": (1024, 65536), "n_threads": (1, 2)}


def gates_of(facts: Facts) -> dict[str, int]:
    return {gate["id"]: gate["n_cells"] for gate in facts["conditions"]["veth"]["quality"]["gates"]}


@pytest.mark.parametrize(
    ("column", "value", "gate"),
    [
        ("first_half_share", 0.53, "halves"),
        ("first_half_share", 0.47, "halves"),
        ("tcp_retransmits", 1e6, "retransmits"),
        ("sender_min_running_percent", 40.0, "multiplexed"),
    ],
)
def test_cell_that_breaks_a_bound_is_counted(column: str, value: float, gate: str) -> None:
    run = Run(**SMALL)
    cells = make_cells(run)
    chosen = (cells["implementation"] == "one_copy") & (cells["msg_bytes"] == 1024)
    cells.loc[chosen & (cells["n_threads"] == 2), column] = value
    found = gates_of(facts_of(run, cells))
    assert found.pop(gate) == 1
    assert set(found.values()) == {0}


def test_spread_and_too_few_repetitions_are_told() -> None:
    assert gates_of(facts_of(Run(**SMALL, noise=0.3)))["spread"] > 6
    assert gates_of(facts_of(Run(**SMALL, repetitions=1)))["few_repetitions"] == 12


@pytest.mark.parametrize("received", [None, 0.0])
def test_cells_in_which_nothing_arrived_have_a_table(
    received: float | None, tmp_path: Path
) -> None:
    """Of nothing measured, or of segments sent again until the window's end."""
    cells = make_cells(Run(**SMALL, failed=lambda *cell: received is None))
    if received is not None:
        cells = cells.assign(received_bytes=received, tcp_retransmits=5.0)
    write_table(quality_table(cells), tmp_path / "quality.csv")
    found = read_table(tmp_path / "quality.csv")
    assert found["n"].tolist() == [0 if received is None else 5] * 12
    assert found["retransmits_per_gigabyte"].isna().all()


def test_a_single_round_that_is_left_is_no_other_verdict() -> None:
    """Without four rounds of five nothing is told any more, which says nothing of those four."""
    run = Run(
        msg_bytes=(1024, 65536),
        n_threads=(1,),
        noise=0.001,
        warnings=lambda name, size, threads, rep: (
            "steal" if size == 1024 and rep < 5 and name == "two_copy" else ""
        ),
    )
    facts = facts_of(run)
    without = facts["conditions"]["veth"]["quality"]["without_flagged"]
    # Two comparisons with two_copy at 1 KiB; the one between the others keeps its rounds.
    assert (without["n_compared"], without["n_changed"]) == (4, 0)
    run = replace(run, warnings=lambda name, size, threads, rep: "steal" * (size == 1024))
    without = facts_of(run)["conditions"]["veth"]["quality"]["without_flagged"]
    assert without["n_compared"] == 3


def test_a_cell_in_two_modes_is_told_with_both() -> None:
    """It is three times as fast in every other round."""
    run = Run(**SMALL, repetitions=7, noise=0.002)
    cells = make_cells(run)
    cell = (cells["implementation"] == "one_copy") & (cells["msg_bytes"] == 65536)
    fast = cell & (cells["n_threads"] == 2) & (cells["rep"] % 2 == 0)
    cells.loc[fast, "throughput_bits_per_s"] *= 3.0
    facts = facts_of(run, cells)
    (found,) = facts["conditions"]["veth"]["quality"]["modes"]
    assert found == {"implementation": "one_copy", "msg_bytes": 65536, "n_threads": 2}
    assert facts["modes"]["share_held"] is None
    table = summarise(cells, StatisticsSettings(resamples=100))
    (row,) = table[table["n_lower"] > 0].to_dict("records")
    assert (row["metric"], row["n_lower"], row["n"]) == ("throughput_bits_per_s", 4, 7)
    assert row["upper_mode"] / row["lower_mode"] == pytest.approx(3.0, rel=0.05)
    assert table.loc[table["n_lower"] == 0, ["lower_mode", "upper_mode"]].isna().all(axis=None)
