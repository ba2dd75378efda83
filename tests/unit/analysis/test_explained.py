"""What a difference in throughput consists of, and that nothing is left over."""

import numpy as np
import pandas as pd
import pytest
from analysed import facts_of, inputs_of
from synthetic import Run, Udp, make_cells

from copycost.analysis.condition_view import View
from copycost.analysis.explained import explain_pair, explain_threads
from copycost.analysis.rates import differing_rates
from copycost.studies.streams.facts import views_of

pytestmark = pytest.mark.slow

GRID = {"msg_bytes": (1024, 65536), "n_threads": (1, 2), "repetitions": 5}
CELLS = [(1024, 1), (65536, 2)]


def view_of(run: Run, cells: pd.DataFrame | None = None) -> View:
    return next(iter(views_of(inputs_of(run, cells)).values()))


def busier(factor: float) -> pd.DataFrame:
    """Return cells in which zero_copy has half the throughput at so many times the CPU time."""
    run = Run(**GRID, noise=0.01, log_ratio=lambda name, size, n: -0.7 * (name == "zero_copy"))
    cells = make_cells(run)
    zero = cells["implementation"] == "zero_copy"
    for side in ("sender", "receiver", "both"):
        if side != "both":
            cells.loc[zero, f"{side}_cpu_ns"] *= factor
        cells.loc[zero, f"{side}_cpu_ns_per_byte"] *= factor
    return cells


def test_factors_multiply_to_the_ratio_in_every_part() -> None:
    view = view_of(Run(**GRID))
    found = explain_pair(view, "zero_copy", "two_copy", CELLS)
    assert found is not None
    effects = [factor["effect"]["value"] for factor in found["factors"]]
    assert np.prod(effects) == pytest.approx(found["throughput"]["value"], rel=1e-12)
    assert sum(factor["share"] for factor in found["factors"]) == pytest.approx(1.0)
    cost = next(factor for factor in found["factors"] if factor["name"] == "cost")
    by_side = [side["effect"]["value"] for side in found["sides"]]
    assert np.prod(by_side) == pytest.approx(cost["effect"]["value"], rel=1e-12)


def test_cpus_in_use_are_those_of_the_clocks() -> None:
    """The identity holds for what is recorded: CPU time, window, bytes."""
    view = view_of(Run(**GRID))
    found = explain_pair(view, "zero_copy", "two_copy", CELLS)
    assert found is not None
    for name, key in (("zero_copy", "cpus"), ("two_copy", "cpus_before")):
        rows = view.of(name).set_index(["msg_bytes", "n_threads"]).loc[CELLS]
        cpus = (rows["sender_cpu_ns"] + rows["receiver_cpu_ns"]) / rows["window_s"] / 1e9
        assert found[key] == pytest.approx(float(cpus.mean()), rel=1e-9)


@pytest.mark.parametrize(
    ("factor", "relation", "names"),
    [
        (1.0, "alone", ["cost", "use"]),
        (0.8, "both", ["cost", "use"]),
        (0.5, "alone", ["use", "cost"]),
        (0.6, "both", ["use", "cost"]),
        (1.2, "against", ["cost", "use"]),
    ],
)
def test_largest_part_comes_first(factor: float, relation: str, names: list[str]) -> None:
    """Half the throughput at 0.8 times the CPU time: 1.6 times the cost, 0.8 times the use."""
    view = view_of(Run(**GRID), busier(factor))
    found = explain_pair(view, "zero_copy", "two_copy", CELLS)
    assert found is not None
    assert [part["name"] for part in found["factors"]] == names
    assert found["relation"] == relation


def test_gain_with_threads_is_explained_by_what_was_measured() -> None:
    """CPUs as busy before as after: no gaps were filled, each byte took less."""
    cells = make_cells(Run(**GRID, noise=0.005))
    for side in ("sender", "receiver"):
        cells[f"{side}_cpu_ns"] = 0.98e9 * cells["window_s"]
        cells[f"{side}_cpu_ns_per_byte"] = cells[f"{side}_cpu_ns"] / cells["received_bytes"]
    found = explain_threads(view_of(Run(**GRID), cells), "two_copy", 2, 1, [1024, 65536])
    assert found is not None
    assert [part["name"] for part in found["factors"]] == ["cost", "use"]
    assert found["relation"] == "alone"
    assert found["factors"][0]["ratio"]["value"] == pytest.approx(1 / 1.6, rel=0.02)


def test_work_and_pace_multiply_to_the_cost() -> None:
    found = explain_pair(view_of(Run(**GRID, counters=True)), "zero_copy", "two_copy", CELLS)
    assert found is not None
    cost = next(factor for factor in found["factors"] if factor["name"] == "cost")
    product = found["instructions"]["value"] * found["pace"]["value"]
    assert product == pytest.approx(cost["ratio"]["value"], rel=1e-12)


@pytest.mark.parametrize("run", [{"counters": False}, {"counters": True, "user_mode_only": True}])
def test_work_is_told_only_where_all_of_it_was_counted(run: dict[str, bool]) -> None:
    found = explain_pair(view_of(Run(**GRID, **run)), "zero_copy", "two_copy", CELLS)
    assert found is not None
    assert found["instructions"] is found["pace"] is None


def test_nothing_is_explained_without_cpu_time_or_cells() -> None:
    gone = {f"{side}_cpu_ns_per_byte": np.nan for side in ("sender", "receiver", "both")}
    assert explain_pair(view_of(Run(**GRID, changes=gone)), "zero_copy", "two_copy", CELLS) is None
    assert explain_pair(view_of(Run(**GRID)), "zero_copy", "two_copy", []) is None


def test_only_the_sender_explains_where_nobody_receives() -> None:
    question = facts_of(Run(**GRID, udp=Udp()))["conditions"]["sink"]["questions"]["q1"]
    assert [side["name"] for side in question["slower"]["explained"]["sides"]] == ["sender"]


def test_segments_sent_again_are_told_of_both() -> None:
    """Those of zero_copy are told where it is zero_copy that is explained."""

    def resent(row: dict[str, float]) -> float:
        per_gigabyte = 2033.0 if row["implementation"] == "zero_copy" else 3.7
        return per_gigabyte * row["received_bytes"] / 1e9 * (1.0 + 0.01 * row["rep"])

    view = view_of(Run(**GRID, changes={"tcp_retransmits": resent}))
    found = differing_rates(view, "zero_copy", "two_copy", CELLS)
    rate = next(one for one in found["differ"] if one["name"] == "resent")
    assert rate["here"] == pytest.approx(2033.0, rel=0.1)
    assert rate["there"] == pytest.approx(3.7, rel=0.1)
    assert found["resent_share"] == pytest.approx(2033.0 * 65483 / 1e9, rel=0.1)


def test_a_ratio_of_rates_is_the_quotient_of_those_told_beside_it() -> None:
    """Where a round lacks a count on one side, its other side is in neither."""

    def switches(row: dict[str, float]) -> float:
        large = 50.0 if row["msg_bytes"] == 65536 else 1.0
        return (
            0.01
            * large
            * (5.0 if row["implementation"] == "zero_copy" else 1.0)
            * (1.0 + 0.01 * row["rep"])
        )

    run = Run(**GRID, changes={"context_switches_per_message": switches})
    cells = make_cells(run)
    lost = (cells["implementation"] == "two_copy") & (cells["msg_bytes"] == 65536)
    lost &= cells["rep"].isin([1, 2, 3])
    cells.loc[lost, "context_switches_per_message"] = np.nan
    found = differing_rates(view_of(run, cells), "zero_copy", "two_copy", CELLS)
    rate = next(one for one in found["differ"] if one["name"] == "switches")
    assert rate["here"] / rate["there"] == pytest.approx(rate["ratio"]["value"], rel=1e-9)
    assert rate["ratio"]["value"] == pytest.approx(5.0, rel=1e-6)


def test_rates_of_cells_that_contradict_each_other_have_no_mean() -> None:
    """31 times as many with small messages and fewer with large ones is not 3.66 times as many."""

    def switches(row: dict[str, float]) -> float:
        ratio = {1024: 31.0, 65536: 0.5}[row["msg_bytes"]]
        return (
            0.01
            * (ratio if row["implementation"] == "zero_copy" else 1.0)
            * (1.0 + 0.01 * row["rep"])
        )

    view = view_of(Run(**GRID, changes={"context_switches_per_message": switches}))
    cells = [(size, n_threads) for size in (1024, 65536) for n_threads in (1, 2)]
    found = differing_rates(view, "zero_copy", "two_copy", cells)
    rate = next(one for one in found["differ"] if one["name"] == "switches")
    assert rate["contradict"]
    assert (rate["n_above"], rate["n_below"]) == (2, 2)
