"""Which sizes are added to a grid, and how they are kept."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from copycost.analysis.refine import choose_sizes
from copycost.config.config import Config
from copycost.config.grid import Grid
from copycost.config.refined import (
    Added,
    added_paths,
    all_paths,
    describe_added,
    read_added,
    write_added,
)
from copycost.grid.cells import Cell

ROOT = Path(__file__).parents[3]
SIZES = [1024, 4096, 16384, 65536]

# The logarithm of the ratio to two_copy, by implementation, size and number of threads.
Truth = Callable[[str, int, int], float]


def config(max_cells: int = 12, enabled: bool = True, **streams: object) -> Config:
    tree: dict[str, Any] = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    grid = {
        "implementations": ["two_copy", "one_copy"],
        "testbeds": ["veth"],
        "msg_bytes": SIZES,
        "n_threads": [1],
    }
    tree["streams"] |= grid | streams
    tree["udp"] |= {"implementations": [], "msg_bytes": [65507]}
    tree["round_trips"] |= {"implementations": [], "msg_bytes": [64]}
    tree["refine"] = {"enabled": enabled, "max_cells": max_cells}
    tree["statistics"]["resamples"] = 500
    tree["measure"]["repetitions"] = 3
    return Config.from_dict(tree)


def table(asked: Config, truth: Truth, noise: float = 0.01, seed: int = 1) -> pd.DataFrame:
    """Return a cells table of the grid in which implementations differ as `truth` says."""
    rng = np.random.default_rng(seed)
    rows = []
    for cell in Grid.of(asked).cells:
        log = 0.0 if cell.implementation == "two_copy" else truth(*_key(cell))
        rows.append(
            {
                "condition": cell.condition,
                "implementation": cell.implementation,
                "msg_bytes": cell.msg_bytes,
                "n_threads": cell.n_threads,
                "rep": cell.rep,
                "status": "measured",
                "throughput_bits_per_s": 1e10 * math.exp(log + rng.normal(0, noise)),
            }
        )
    return pd.DataFrame(rows)


def _key(cell: Cell) -> tuple[str, int, int]:
    return cell.implementation, cell.msg_bytes, cell.n_threads


def gains_from(size: int, slope: float = 0.2) -> Truth:
    return lambda _name, msg_bytes, _threads: slope * math.log2(msg_bytes / size)


def sizes_of(added: Sequence[Added]) -> list[int]:
    return sorted(each.msg_bytes for each in added)


def test_a_wide_bracket_is_narrowed_by_steps_of_the_square_root_of_two() -> None:
    asked = config()
    added = choose_sizes(table(asked, gains_from(8000)), asked)
    assert sizes_of(added) == [5793, 8192, 11585]
    steps = [after / before for before, after in pairwise([4096, *sizes_of(added), 16384])]
    assert steps == pytest.approx([math.sqrt(2)] * 4, rel=1e-3)
    assert {each.outcome for each in added} == {"from"}


def test_the_nearest_sizes_come_first_when_few_cells_may_be_added() -> None:
    found = table(config(), gains_from(11000))
    assert sizes_of(choose_sizes(found, config(max_cells=2))) == [11585]
    assert sizes_of(choose_sizes(found, config(max_cells=5))) == [8192, 11585]
    assert choose_sizes(found, config(max_cells=1)) == []


def test_an_undecided_crossover_is_looked_at_on_both_sides_of_what_is_even() -> None:
    def even_at_16384(_name: str, msg_bytes: int, _threads: int) -> float:
        return {1024: -0.3, 4096: -0.3, 16384: 0.0, 65536: 0.3}[msg_bytes]

    asked = config(max_cells=20)
    added = choose_sizes(table(asked, even_at_16384), asked)
    assert {size > 16384 for size in sizes_of(added)} == {True, False}


@pytest.mark.parametrize("log", [0.3, -0.3])
def test_always_and_never_have_nothing_to_place(log: float) -> None:
    asked = config()
    assert choose_sizes(table(asked, lambda *_: log), asked) == []


def test_a_narrow_crossover_is_left_alone() -> None:
    asked = config(msg_bytes=[4096, 8192, 16384, 32768])
    assert choose_sizes(table(asked, gains_from(11000, slope=1.0)), asked) == []


def test_sizes_of_the_grid_are_never_added_nor_any_beside_them() -> None:
    asked = config(msg_bytes=[1000, 8200, 65536])
    added = sizes_of(choose_sizes(table(asked, gains_from(8000)), asked))
    assert added
    assert all(max(size / 8200, 8200 / size) > 1.18 for size in added)


def test_no_datagram_is_larger_than_one_may_be() -> None:
    tree = config().as_dict()
    tree["udp"] |= {
        "implementations": ["two_copy", "udp_gso_x4"],
        "testbeds": ["sink"],
        "msg_bytes": [1024, 4096, 16000],
        "working_sets": ["hot"],
    }
    tree["streams"]["implementations"] = []
    asked = Config.from_dict(tree)
    added = choose_sizes(table(asked, gains_from(15000, slope=0.5)), asked)
    assert added
    assert all(each.msg_bytes * 4 <= 65507 for each in added)


def test_comparisons_take_turns_few_threads_first() -> None:
    several = {"implementations": ["two_copy", "one_copy", "zero_copy"], "n_threads": [4, 1]}
    added = choose_sizes(table(config(**several), gains_from(8000)), config(5, **several))
    # one size for each of both at one thread share their baseline, which makes three cells
    assert [(each.n_threads, each.implementation, each.msg_bytes) for each in added] == [
        (1, "one_copy", 8192),
        (1, "zero_copy", 8192),
        (4, "one_copy", 8192),
    ]


def test_the_same_table_gives_the_same_sizes_whatever_was_added() -> None:
    asked = config()
    found = table(asked, gains_from(8000))
    shuffled = found.sample(frac=1.0, random_state=3)
    assert choose_sizes(found, asked) == choose_sizes(shuffled, asked)


def test_without_a_baseline_or_a_result_nothing_is_added() -> None:
    alone = config(implementations=["one_copy"])
    assert choose_sizes(table(alone, gains_from(8000)), alone) == []
    failed = table(config(), gains_from(8000)).assign(status="failed")
    assert choose_sizes(failed, config()) == []


ADDED = [
    Added("sink", "cold", "recv", "apart", 1, "one_copy", "two_copy", 5793, "undecided"),
    Added("sink", "cold", "recv", "apart", 1, "zero_copy", "two_copy", 5793, "from"),
]


def test_what_is_added_is_kept_and_its_records_are_named_once(tmp_path: Path) -> None:
    write_added(ADDED, tmp_path / "added.json")
    assert read_added(tmp_path / "added.json") == ADDED
    asked_for = config()
    paths = added_paths(ADDED, asked_for)
    assert len(paths) == len(set(paths)) == 3 * asked_for.repetitions("sink")
    assert paths[0] == (
        "results/raw/streams/testbed=sink/implementation=one_copy/msg_bytes=5793/n_threads=1"
        "/working_set=cold/receiver=recv/placement=apart/rep=1.json"
    )


def test_all_records_are_those_of_the_grid_and_the_added_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    n_grid = len(Grid.of(config()).cells)
    assert len(all_paths(config())) == n_grid  # before the first pass
    Path("results/refine").mkdir(parents=True)
    write_added(ADDED, Path("results/refine/added.json"))
    assert len(all_paths(config())) == n_grid + 3 * config().repetitions("sink")
    assert len(all_paths(config(enabled=False))) == n_grid


def test_what_is_added_is_said() -> None:
    assert describe_added([], 0) == (
        "copycost: no sizes are added: no crossover of the first pass is open."
    )
    assert describe_added(ADDED, 9) == (
        "copycost: sizes around open crossovers, 9 repetitions more: "
        "sink_cold, 1 thread, one_copy against two_copy: 5793 B; "
        "sink_cold, 1 thread, zero_copy against two_copy: 5793 B."
    )
