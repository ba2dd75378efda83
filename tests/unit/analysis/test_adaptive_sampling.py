"""What the passes behind the grid add: where the time that is left decides most."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise, product
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from copycost.analysis.adaptive_sampling import (
    Choice,
    choose_cells,
    cubes_of,
    open_answers,
    time_of,
)
from copycost.config.cells import Cell
from copycost.config.config import Config
from copycost.config.grid import Grid, reference_of, repetitions_in
from copycost.config.passes import PASSES, analysed, confidence_of_analysis, confidence_to_settle
from copycost.config.sources import usual_tree

SIZES = [1024, 16384, 262144]

# The logarithm of the ratio to two_copy.
Truth = Callable[[Cell], float]
Rows = dict[Cell, dict[str, Any]]


def config(measure: Mapping[str, Any] = {}, **streams: object) -> Config:
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
    usual = {"repetitions": 5, "minutes": 60, "warmup_s": 0.2, "duration_s": 0.4}
    tree["measure"] |= usual | measure
    return Config.from_dict(tree)


def measured(asked: Config, jobs: Iterable[Cell], truth: Truth, noise: float = 0.01) -> Rows:
    """Return rows of a table in which implementations differ as `truth` says.

    Where they have two_copy beside them, at a level that drifts from one to the next.
    """
    rows: Rows = {}
    rounds = Grid.of(asked).rounds
    for job in jobs:
        paired = reference_of(asked, job)
        for number in range(repetitions_in(asked, job, rounds)):
            cell = replace(job, rep=job.rep + number)
            rng = np.random.default_rng(crc32(cell.path.encode()))  # in any order
            log = 0.0 if cell.implementation == "two_copy" else truth(cell)
            drift = 1.5 ** (number % 3) if paired else 1.0
            start_ns = len(rows) * 1_500_000_000
            rows[cell] = {
                "status": "measured",
                "throughput_bits_per_s": 1e10 * drift * math.exp(log + rng.normal(0, noise)),
                "wall_s": 1.2,
                "boot_id": "boot",
                "start_ns": start_ns,
                "end_ns": start_ns + 1_200_000_000,
            }
            if paired:
                rows[cell] |= {"reference": paired, "reference_throughput_bits_per_s": 1e10 * drift}
    return rows


def run(asked: Config, truth: Truth, noise: float = 0.01) -> tuple[Rows, list[list[Cell]]]:
    """Measure the grid and all passes; return all rows, and what each pass chose."""
    jobs, chosen = list(Grid.of(asked).cells), []
    for number in range(1, PASSES + 1):
        chosen.append(choose_cells(measured(asked, jobs, truth, noise), asked, number).cells)
        assert not set(chosen[-1]).intersection(jobs)
        jobs += chosen[-1]
    return measured(asked, jobs, truth, noise), chosen


def gains_from(size: float) -> Truth:
    return lambda cell: 0.2 * math.log2(cell.msg_bytes / size)


def sizes_of(cells: Iterable[Cell]) -> list[int]:
    return sorted({cell.msg_bytes for cell in cells})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("crossover", "testbed"), [(2000, "veth"), (11000, "vm_pair"), (200_000, "veth")]
)
def test_a_bracket_of_sixteen_is_narrowed_to_one_and_a_half(crossover: float, testbed: str) -> None:
    rows, chosen = run(config(testbeds=[testbed]), gains_from(crossover))
    below = max(size for size in sizes_of(rows) if size < crossover)
    above = min(size for size in sizes_of(rows) if size > crossover)
    assert above / below <= 1.5
    for cell in (each for cells in chosen for each in cells):
        step = (1 << cell.msg_bytes.bit_length() - 1) // 16
        assert cell.msg_bytes % step == 0
        for name, rep in product(("two_copy", "one_copy"), (1, 2, 3, 4, 5)):
            assert replace(cell, implementation=name, rep=rep) in rows


@pytest.mark.slow
def test_where_the_verdict_is_open_both_sides_of_it_are_narrowed() -> None:
    def even_between(cell: Cell) -> float:
        return -0.3 if cell.msg_bytes < 5000 else 0.3 if cell.msg_bytes > 100_000 else 0.0

    rows, _ = run(config(msg_bytes=[1000, 16000, 250_000]), even_between)
    added = sizes_of(rows)
    assert all(
        after / before <= 1.5
        for before, after in pairwise(added)
        if before < 5000 < after or before < 100_000 < after
    )


def test_the_same_records_give_the_same_cells_in_whatever_order_they_come() -> None:
    asked = config({"minutes": 4}, implementations=["two_copy", "one_copy", "zero_copy"])
    rows = measured(asked, Grid.of(asked).cells, gains_from(9000), noise=0.1)
    backwards = dict(reversed(rows.items()))
    choice = choose_cells(rows, asked, 1)
    assert choice == choose_cells(backwards, asked, 1)
    assert choice.cells


def test_where_all_is_settled_or_nothing_is_compared_nothing_is_added() -> None:
    for log in (0.3, -0.3, 0.0):
        assert run(config(), lambda _cell, log=log: log)[1] == [[], [], [], []]
    alone = config(implementations=["one_copy"])
    assert run(alone, gains_from(8000))[1] == [[], [], [], []]
    asked = config()
    failed = measured(asked, Grid.of(asked).cells, gains_from(8000))
    for row in failed.values():
        row |= {"status": "failed", "throughput_bits_per_s": None}
    assert choose_cells(failed, asked, 1) == Choice([], 0, 0)


def test_time_is_spent_on_what_is_not_settled_and_never_more() -> None:
    def open_at_one_size(cell: Cell) -> float:
        return 0.0 if cell.msg_bytes == 16384 else 3.0

    asked = config({"minutes": 3})
    rows, chosen = run(asked, open_at_one_size, noise=0.3)
    assert sizes_of(cell for cells in chosen for cell in cells) == [16384]
    # 1.5 s for each repetition; less than a job of five is left
    assert 3 * 60 - 5 * 1.5 < time_of(rows) <= 3 * 60


@pytest.mark.parametrize(
    ("minutes", "rounds", "rounds_alone"),
    [(0.01, 1, 1), (0.2, 1, 1), (0.3, 2, 2), (0.6, 5, 4), (9, 5, 5)],
)
def test_little_time_gives_fewer_repetitions_of_every_cell(
    minutes: float, rounds: int, rounds_alone: int
) -> None:
    grid = Grid.of(config({"minutes": minutes}))
    assert grid.rounds == rounds
    assert {cell.rep for cell in grid.cells} == {1}
    alone = Grid.of(config({"minutes": minutes}, testbeds=["vm_pair"]))
    assert {cell.rep for cell in alone.cells} == set(range(1, rounds_alone + 1))


def test_a_night_between_two_repetitions_is_no_time_of_measuring() -> None:
    asked = config()
    rows = measured(asked, Grid.of(asked).cells, gains_from(9000))
    whole = time_of(rows)
    assert whole == pytest.approx(len(rows) * 1.5 - 0.3)
    for cell in list(rows)[10:]:
        rows[cell]["start_ns"] += 8 * 3600 * 10**9
        rows[cell]["end_ns"] += 8 * 3600 * 10**9
    assert time_of(rows) == pytest.approx(whole - 0.3)
    assert time_of({}) == 0.0


def test_errors_of_all_looks_add_up_to_those_that_are_stated() -> None:
    for stated in (0.9, 0.95, 0.99):
        looks = PASSES * (1 - confidence_to_settle(stated)) + 1 - confidence_of_analysis(stated)
        assert looks == pytest.approx(1 - stated)
    without = config({"minutes": "none"})
    assert analysed(without) == without
    assert analysed(config()).statistics.confidence == pytest.approx(0.96)


def test_an_answer_that_is_open_gets_more_of_the_ways_that_may_be_the_best() -> None:
    asked = config(implementations=["two_copy", "one_copy", "zero_copy"], n_threads=[1, 2])

    def rows(lead: float) -> Rows:
        """Both are ahead of two_copy for sure; which one is the best depends on the lead."""
        ahead = {"one_copy": 3.0, "zero_copy": 3.0 + lead}
        grid = Grid.of(asked).cells
        return measured(asked, grid, lambda cell: ahead[cell.implementation], noise=0.2)

    cubes = cubes_of(rows(0.0))
    (first, *_) = open_answers(cubes, 0.95)
    assert {cell.implementation for cell in first} == {"one_copy", "zero_copy"}
    assert {cell.n_threads for cell in first} == {1, 2}
    assert {cell.msg_bytes for cells in open_answers(cubes, 0.95) for cell in cells} == set(SIZES)
    assert open_answers(cubes_of(rows(2.0)), 0.95) == []
    chosen = choose_cells(rows(0.0), asked, 1).cells
    assert {cell.implementation for cell in chosen} == {"one_copy", "zero_copy"}
