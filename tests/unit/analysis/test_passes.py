"""What the passes behind the grid add: sizes where a verdict changes, rounds where time is left."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from copycost.analysis.passes import (
    Choice,
    choose_cells,
    describe,
    disagreeing,
    is_settled,
    log_ratios,
    rounds_wanted,
    size_between,
    time_of,
)
from copycost.config.config import Config
from copycost.config.grid import Grid
from copycost.config.looks import PASSES, confidence_of_analysis, confidence_to_settle
from copycost.config.passes import further_rounds
from copycost.config.sources import usual_tree
from copycost.grid.cells import Cell
from copycost.stats.ratios import paired_ratio

ROOT = Path(__file__).parents[3]
SIZES = [1024, 16384, 262144]

# The logarithm of the ratio to two_copy.
Truth = Callable[[Cell], float]
Rows = dict[Cell, dict[str, Any]]


def config(
    refine: Mapping[str, Any] = {}, measure: Mapping[str, Any] = {}, **streams: object
) -> Config:
    tree: dict[str, Any] = usual_tree()
    grid = {
        "implementations": ["two_copy", "one_copy"],
        "testbeds": ["veth"],
        "msg_bytes": SIZES,
        "n_threads": [1],
    }
    tree["streams"] |= grid | streams
    tree["udp"] |= {"implementations": [], "msg_bytes": [65507]}
    tree["round_trips"] |= {"implementations": [], "msg_bytes": [64]}
    tree["refine"] |= refine
    tree["measure"] |= {"repetitions": 3, "warmup_s": 0.2, "duration_s": 1.0} | measure
    return Config.from_dict(tree)


def measured(cells: Iterable[Cell], truth: Truth, noise: float = 0.01, each_s: float = 1.2) -> Rows:
    """Return rows of a table in which implementations differ as `truth` says."""
    rows: Rows = {}
    for cell in cells:
        rng = np.random.default_rng(crc32(cell.path.encode()))  # whatever the order of the cells
        log = 0.0 if cell.implementation == "two_copy" else truth(cell)
        start_ns = len(rows) * round((each_s + 0.3) * 1e9)
        rows[cell] = {
            "status": "measured",
            "throughput_bits_per_s": 1e10 * math.exp(log + rng.normal(0, noise)),
            "wall_s": each_s,
            "boot_id": "boot",
            "start_ns": start_ns,
            "end_ns": start_ns + round(each_s * 1e9),
        }
    return rows


def run(asked: Config, truth: Truth, noise: float = 0.01) -> tuple[Rows, list[list[Cell]]]:
    """Measure the grid and all passes; return all rows, and what each pass chose."""
    cells, chosen = list(Grid.of(asked).cells), []
    for number in range(1, PASSES + 1):
        chosen.append(choose_cells(measured(cells, truth, noise), asked, number).cells)
        assert not set(chosen[-1]).intersection(cells)
        cells += chosen[-1]
    return measured(cells, truth, noise), chosen


def gains_from(size: float) -> Truth:
    return lambda cell: 0.2 * math.log2(cell.msg_bytes / size)


def sizes_of(cells: Iterable[Cell]) -> list[int]:
    return sorted({cell.msg_bytes for cell in cells})


@pytest.mark.parametrize("crossover", [2000, 8000, 11000, 200_000])
def test_a_bracket_of_sixteen_is_narrowed_to_one_and_a_half(crossover: float) -> None:
    rows, chosen = run(config(), gains_from(crossover))
    below = max(size for size in sizes_of(rows) if size < crossover)
    above = min(size for size in sizes_of(rows) if size > crossover)
    assert above / below <= 1.5
    assert chosen[-1] == []
    for cell in (each for cells in chosen for each in cells):
        step = (1 << cell.msg_bytes.bit_length() - 1) // 16
        assert cell.msg_bytes % step == 0
        for name in ("two_copy", "one_copy"):
            for rep in (1, 2, 3):
                assert replace(cell, implementation=name, rep=rep) in rows


def test_where_the_verdict_is_open_both_sides_of_it_are_narrowed_and_no_more() -> None:
    def even_between(cell: Cell) -> float:
        return -0.3 if cell.msg_bytes < 5000 else 0.3 if cell.msg_bytes > 60_000 else 0.0

    asked = config({"max_cells": 100, "max_minutes": 60}, msg_bytes=[1000, 16000, 250_000])
    rows, _ = run(asked, even_between)
    added = sizes_of(rows)
    assert all(
        after / before <= 1.5
        for before, after in pairwise(added)
        if before < 5000 < after or before < 60_000 < after
    )
    assert len([size for size in added if 8192 < size < 40_000]) <= 2  # the open ones in between


@pytest.mark.parametrize("log", [0.3, -0.3, 0.0])
def test_without_a_change_of_verdict_no_size_is_added(log: float) -> None:
    assert run(config(), lambda _cell: log)[1] == [[], [], [], []]


def test_limits_hold_over_all_passes() -> None:
    several = {"implementations": ["two_copy", "one_copy", "zero_copy"], "n_threads": [1, 2, 4]}

    def added(**limits: float) -> int:
        asked = config(limits, **several)
        rows, _ = run(asked, gains_from(9000))
        return len({replace(cell, rep=1) for cell in rows} - set(Grid.of(asked).cells))

    all_of_them = added(max_cells=1000, max_minutes=1000)
    assert 8 < added(max_cells=10, max_minutes=1000) <= 10 < all_of_them
    # a repetition takes 1.5 s, so a cell 4.5 s
    assert 8 < added(max_cells=1000, max_minutes=0.75) <= 10
    assert added(max_cells=1, max_minutes=1000) == 0


def test_the_widest_brackets_come_first_then_few_threads() -> None:
    several = {"n_threads": [4, 1], "msg_bytes": [1024, 4096, 65536]}

    def at_1024_with_4(cell: Cell) -> float:
        return 0.2 * math.log2(cell.msg_bytes / (2000 if cell.n_threads == 4 else 9000))

    asked = config({"max_cells": 2}, **several)
    (first, _) = {replace(cell, rep=1) for cell in run(asked, at_1024_with_4)[1][0]}
    assert (first.n_threads, first.msg_bytes) == (1, 16384)
    asked = config({"max_cells": 2}, **several)
    (first, _) = {replace(cell, rep=1) for cell in run(asked, gains_from(9000))[1][0]}
    assert first.n_threads == 1


def test_datagrams_have_the_repetitions_of_their_grid_and_are_never_too_large() -> None:
    tree = config().as_dict()
    tree["streams"]["implementations"] = []
    tree["udp"] |= {
        "implementations": ["two_copy", "udp_gso_x4"],
        "testbeds": ["sink"],
        "msg_bytes": [1024, 4096, 16000],
        "working_sets": ["hot"],
        "extra_repetitions": 2,
    }
    rows, chosen = run(Config.from_dict(tree), gains_from(8000))
    assert max(cell.msg_bytes for cell in rows) == 16000
    assert {cell.rep for cell in chosen[0]} == {1, 2, 3, 4, 5}


def test_a_baseline_that_is_there_is_measured_again_in_the_same_rounds() -> None:
    asked = config(implementations=["two_copy", "one_copy", "zero_copy"])
    rows = measured(Grid.of(asked).cells, gains_from(9000))
    first = choose_cells(rows, asked, 1).cells
    only_one = [cell for cell in first if cell.implementation != "zero_copy"]
    rows = measured([*rows, *only_one], gains_from(9000))
    again = [cell for cell in choose_cells(rows, asked, 2).cells if cell.msg_bytes == 4096]
    assert {(cell.implementation, cell.rep) for cell in again} == {
        (name, rep) for name in ("two_copy", "zero_copy") for rep in (4, 5, 6)
    }


def beside_two_copy(rows: Rows) -> Rows:
    """Let rows have two_copy beside them, at a level that drifts from one to the next."""
    for place, row in enumerate(rows.values()):
        drift = 1.5 ** (place % 3)
        row["throughput_bits_per_s"] *= drift
        row |= {"reference": "two_copy", "reference_throughput_bits_per_s": 1e10 * drift}
    return rows


def test_what_has_the_baseline_beside_it_needs_no_further_rounds_of_it() -> None:
    asked = config({"enabled": False}, {"minutes": 4})
    rows = measured(Grid.of(asked).cells, lambda cell: 0.5 * (cell.msg_bytes > 16384))
    rows = beside_two_copy(rows)
    logs = log_ratios(rows)
    settled = sorted(cell for cell, values in logs.items() if is_settled(values, 0.95))
    assert settled == [Cell("streams", "veth", "one_copy", SIZES[2], 1)]
    chosen = choose_cells(rows, asked, 1).cells
    assert {(cell.implementation, cell.msg_bytes) for cell in chosen} == {
        ("one_copy", size) for size in SIZES[:2]
    }


def test_an_added_size_has_the_baselines_own_rounds_once() -> None:
    asked = config(implementations=["two_copy", "one_copy", "zero_copy"])
    rows = beside_two_copy(measured(Grid.of(asked).cells, gains_from(9000)))
    first = choose_cells(rows, asked, 1).cells
    assert {cell.implementation for cell in first} == {"two_copy", "one_copy", "zero_copy"}
    only_one = [cell for cell in first if cell.implementation != "zero_copy"]
    rows = beside_two_copy(measured([*rows, *only_one], gains_from(9000)))
    again = [cell for cell in choose_cells(rows, asked, 2).cells if cell.msg_bytes == 4096]
    assert {cell.implementation for cell in again} == {"zero_copy"}


def test_the_same_records_give_the_same_cells_in_whatever_order_they_come() -> None:
    asked = config(measure={"minutes": 4}, implementations=["two_copy", "one_copy", "zero_copy"])
    rows = measured(Grid.of(asked).cells, gains_from(9000), noise=0.1)
    backwards = dict(reversed(rows.items()))
    assert choose_cells(rows, asked, 1) == choose_cells(backwards, asked, 1) != Choice([], 0)


def test_without_a_baseline_a_result_or_a_second_round_nothing_is_added() -> None:
    alone = config(implementations=["one_copy"], measure={"minutes": 60})
    assert run(alone, gains_from(8000))[1] == [[], [], [], []]
    asked = config(measure={"minutes": 60})
    failed = measured(Grid.of(asked).cells, gains_from(8000))
    for row in failed.values():
        row |= {"status": "failed", "throughput_bits_per_s": None}
    assert choose_cells(failed, asked, 1) == Choice([], 0)
    once = config(measure={"repetitions": 1})
    assert run(once, gains_from(8000))[1] == [[], [], [], []]


def test_sizes_between_are_round_and_lie_between() -> None:
    assert [size_between(4096, 65536), size_between(16384, 65507)] == [16384, 32768]
    assert [size_between(1000, 2100), size_between(3, 5)] == [1536, 4]
    assert [size_between(8192, 16384), size_between(12288, 32768)] == [12288, 20480]
    assert disagreeing({1: -1, 2: 1}) == []  # nothing lies between
    assert disagreeing({8: 1, 16: 0, 32: 1, 64: 0}) == []  # never turns
    assert disagreeing({8: 1, 16: 0, 32: -1}) == [(8, 16), (16, 32)]
    assert disagreeing({8: 1, 12: -1, 64: 1}) == [(12, 64)]


def test_time_is_spent_on_what_is_not_settled_and_all_of_it() -> None:
    def open_at_one_size(cell: Cell) -> float:
        return 0.0 if cell.msg_bytes == 16384 else 0.5

    asked = config({"enabled": False}, {"minutes": 4})
    rows, chosen = run(asked, open_at_one_size)
    n_first = len(Grid.of(asked).cells)
    assert n_first == 5 * 6
    assert sizes_of(cell for cells in chosen for cell in cells) == [16384]
    assert all(len(cells) % 2 == 0 for cells in chosen)
    # 1.5 s for each repetition; less than a round of two cells is left
    assert 4 * 60 - 2 * 1.5 < time_of(rows).used_s <= 4 * 60
    assert all(len(cells) >= 10 for cells in chosen)  # about as many in each pass
    of_open = sorted(cell.rep for cell in rows if cell.msg_bytes == 16384)
    assert of_open == sorted([*range(1, len(of_open) // 2 + 1)] * 2)


def test_nothing_is_measured_for_its_own_sake() -> None:
    rows, chosen = run(config({"enabled": False}, {"minutes": 60}), lambda _cell: 0.5)
    assert chosen == [[], [], [], []]
    assert {cell.rep for cell in rows} == {1, 2, 3, 4, 5}


@pytest.mark.parametrize(
    ("minutes", "rounds"), [(0.01, 1), (0.2, 1), (0.6, 2), (1.1, 4), (1.4, 5), (9, 5)]
)
def test_little_time_gives_fewer_rounds_of_every_cell(minutes: float, rounds: int) -> None:
    cells = Grid.of(config(measure={"minutes": minutes})).cells
    assert len(cells) == 6 * rounds
    assert {cell.rep for cell in cells} == set(range(1, rounds + 1))


def test_sizes_take_from_the_time_as_well() -> None:
    asked = config(measure={"minutes": 2})
    rows, chosen = run(asked, gains_from(9000), noise=0.2)
    assert time_of(rows).used_s <= 120
    assert any(cell.msg_bytes not in SIZES for cells in chosen for cell in cells)


def test_a_night_between_two_repetitions_is_no_time_of_measuring() -> None:
    rows = measured(Grid.of(config()).cells, gains_from(9000))
    whole = time_of(rows)
    assert whole.used_s == pytest.approx(len(rows) * 1.5)
    for cell in list(rows)[10:]:
        rows[cell]["start_ns"] += 8 * 3600 * 10**9
        rows[cell]["end_ns"] += 8 * 3600 * 10**9
    assert time_of(rows) == whole
    assert time_of({}).used_s == 0.0


def test_few_rounds_settle_nothing() -> None:
    sure = np.array([0.5, 0.501, 0.499, 0.5])
    assert not is_settled(sure, 0.95)
    assert is_settled(np.append(sure, 0.5), 0.95)
    assert not is_settled(np.array([0.5, -0.4, 0.3, 0.2, 0.1]), 0.95)


def test_what_is_settled_has_a_verdict_in_the_analysis() -> None:
    rng = np.random.default_rng(1)
    samples = [rng.normal(shift, 0.1, size=6) for shift in np.linspace(0, 0.4, 200)]
    settled = [values for values in samples if is_settled(values, 0.95)]
    assert 20 < len(settled) < 180
    for values in settled:
        found = paired_ratio(values, confidence_of_analysis(0.95))
        assert not found.low <= 1.0 <= found.high


def test_errors_of_all_looks_add_up_to_those_that_are_stated() -> None:
    for stated in (0.9, 0.95, 0.99):
        looks = PASSES * (1 - confidence_to_settle(stated)) + 1 - confidence_of_analysis(stated)
        assert looks == pytest.approx(1 - stated)


def test_the_analysis_is_stricter_only_where_there_were_looks() -> None:
    assert config().analysed() == config()
    timed = config(measure={"minutes": 5})
    assert timed.analysed().statistics.confidence == pytest.approx(0.96)


def test_rounds_are_shared_among_the_passes_to_come() -> None:
    logs = log_ratios(measured(Grid.of(config()).cells, lambda _cell: 0.0))
    counts = [set(rounds_wanted(logs, 0.95, 72.0, 1.0, number).values()) for number in (1, 2, 3, 4)]
    assert counts == [{3}, {4}, {6}, {12}]
    assert set(rounds_wanted(logs, 0.95, 7.0, 1.0, 1).values()) == {1}
    assert rounds_wanted(logs, 0.95, 5.9, 1.0, 4) == {}
    assert rounds_wanted({}, 0.95, 5.9, 1.0, 4) == {}


def test_further_rounds_go_on_behind_those_of_what_is_compared() -> None:
    one, two = (Cell("streams", "veth", name, 64, 1) for name in ("one_copy", "two_copy"))
    cells = [one, *(replace(two, rep=rep) for rep in (1, 2, 3, 4))]
    assert [cell.rep for cell in further_rounds(cells, {one: 2})] == [5, 6]
    assert [cell.rep for cell in further_rounds(cells, {replace(one, msg_bytes=65): 2})] == [1, 2]


def test_what_is_chosen_is_said() -> None:
    assert describe(Choice([], 0), []) == (
        "copycost: nothing more to measure: no comparison that more would help is open."
    )
    asked = config()
    done = measured(Grid.of(asked).cells, gains_from(9000))
    assert describe(choose_cells(done, asked, 1), done) == (
        "copycost: 6 repetitions more where comparisons are open; veth, 1 thread, one_copy: 4 KiB."
    )
    timed = config({"enabled": False}, {"minutes": 2})
    done = measured(Grid.of(timed).cells, lambda _cell: 0.0)
    assert describe(choose_cells(done, timed, 1), done) == (
        "copycost: 12 repetitions more where comparisons are open; further rounds of 6 cells."
    )


def test_limits_that_leave_a_bracket_wide_are_said() -> None:
    asked = config({"max_cells": 1})
    done = measured(Grid.of(asked).cells, gains_from(9000))
    choice = choose_cells(done, asked, 1)
    assert choice == Choice([], 1)
    assert describe(choice, done) == (
        "copycost: 1 change of verdict not narrowed down further, since refine.max_minutes or"
        " refine.max_cells is reached."
    )
