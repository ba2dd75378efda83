"""What throughput does with the threads, and what is said of it."""

import math

import pytest
from analysed import facts_of, text_of
from synthetic import Run

from copycost.analysis.json_values import Facts

pytestmark = pytest.mark.slow

SIZES = (1024, 65536)


def question_of(run: Run) -> Facts:
    found: Facts = facts_of(run)["conditions"]["veth"]["questions"]["q3"]
    return found


def test_turn_is_found_where_it_is() -> None:
    scaling = {1: 1.0, 2: 1.8, 4: 1.2}.__getitem__
    grid = {"msg_bytes": SIZES, "n_threads": (1, 2, 4), "repetitions": 5}
    question = question_of(Run(**grid, noise=0.005, scaling=scaling))
    assert question["verdict"] == "turns"
    (group,) = question["groups"]
    assert (group["fewest"], group["most"]) == (1, 4)
    wholes = [row["value"] for row in question["wholes"]]
    assert wholes == pytest.approx([1.2] * 3, rel=0.05)


def test_nothing_seen_is_not_told_as_no_difference() -> None:
    run = Run(msg_bytes=SIZES, n_threads=(1, 2), noise=0.1, scaling=lambda n_threads: 1.0)
    facts = facts_of(run)
    assert facts["conditions"]["veth"]["questions"]["q3"]["verdict"] == "unsettled"
    section = text_of(facts, "analysis").partition("q3}")[2].partition("\n## ")[0]
    assert "throughput is open in all of" in section
    assert "no difference" not in section


def test_sizes_that_part_have_no_mean() -> None:
    """What rises with small messages and falls with large ones has no course of its own."""

    def truth(name: str, size: int, threads: int) -> float:
        return (0.3 if size < 4096 else -0.3) * math.log2(threads)

    run = Run(
        msg_bytes=(256, 1024, 16384, 65536),
        n_threads=(1, 2, 4),
        log_ratio=truth,
        scaling=lambda n_threads: 1.0,
    )
    question = question_of(run)
    assert question["verdict"] == "by_size"
    assert question["wholes"] == []
    assert question["explained"][0]["ways"] == []


def test_cells_that_contradict_each_other_have_no_growth() -> None:
    def switches(row: dict[str, float]) -> float:
        grown = 2.0 if row["msg_bytes"] < 4096 else 0.5
        return 0.01 * grown ** (row["n_threads"] - 1) * (1 + 0.001 * row["rep"])

    changes = {"context_switches_per_message": switches}
    run = Run(msg_bytes=SIZES, n_threads=(1, 2), noise=0.005, changes=changes)
    found = facts_of(run)["conditions"]["veth"]["evidence"]["switches_grow_with_threads"]
    assert found["weight"] == "cells_disagree"
    assert found["value"] is None
