"""What is said of hosts in general follows from what holds on each of them."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from unit.compare.hosts.made import CROSSOVERS, facts_of

from copycost.analysis.metrics import THROUGHPUT
from copycost.compare.hosts.facts import _n_planned
from copycost.compare.hosts.host_facts import associations, unlike_others


@pytest.mark.parametrize(
    ("ratios", "sure", "verdict", "holds"),
    [
        ([4.65, 1.43, 1.49], [True] * 3, "each_better", "open"),
        ([1.1, 0.92, 1.5], [False, False, True], "each_better", "open"),
        ([1.1, 0.92, 1.5], [False] * 3, "open", "open"),
        ([4.65, 0.43, 1.49], [True] * 3, "depends", "depends"),
        ([2.0, 1.4, 3.1, 1.3, 2.5, 1.6], [True] * 6, "mostly_better", "open"),
        ([1.4, 1.41, 1.39] * 4, [True] * 12, "better", "better"),
        ([1.4, 1.41, 1.39] * 40 + [0.98], [False] * 120 + [True], "better_but", "open"),
        ([1.4, 1.41, 1.39] * 40 + [0.98], [True] * 121, "better_but", "depends"),
        ([0.6, 0.61, 0.59] * 40 + [1.02], [True] * 121, "worse_but", "depends"),
        ([1.4, 1.5], [True] * 2, "few", "open"),
        ([1.4, 0.5], [True] * 2, "depends", "depends"),
    ],
)
def test_a_verdict_contradicts_no_host(
    ratios: list[float], sure: list[bool], verdict: str, holds: str
) -> None:
    ((pair,),) = (condition["pairs"] for condition in facts_of(ratios, sure)["conditions"])
    (quantity,) = pair["quantities"]
    assert quantity["point"]["verdict"] == verdict
    assert [name for name, sizes in quantity["holds"].items() if sizes] == [holds]


def test_all_hosts_have_in_common_what_each_of_them_tells() -> None:
    told = [
        {"kernel": "6.1.0", "governor": "performance", "CPUs": 8, "vendor": "A"},
        {"kernel": "6.1.0", "governor": None, "CPUs": 8, "vendor": "B"},
    ]
    alike = facts_of([1.4, 1.5], [True] * 2, told)["alike"]
    assert alike == [{"name": "CPUs", "value": "8"}]


@pytest.mark.parametrize(
    ("below", "middle"),
    [([4, 32], (4096, 8192)), ([4, 16, 32], (16384, 32768)), ([8, 4, 32, 64], (8192, 16384))],
)
def test_the_middle_place_is_one_that_a_host_has(below: list[int], middle: tuple[int, int]) -> None:
    rows = [
        ("veth", "zero_copy", "two_copy", THROUGHPUT, 1, f"h{n}", "from", size << 10, size << 11)
        for n, size in enumerate(below)
    ]
    crossovers = pd.DataFrame(rows, columns=list(CROSSOVERS))
    facts = facts_of([1.2] * len(below), [True] * len(below), crossovers=crossovers)
    turns = facts["conditions"][0]["pairs"][0]["quantities"][0]["turns"]
    assert (turns["middle_below"], turns["middle_above"]) == middle


RNG = np.random.default_rng(3)
KERNELS = ("6.1",) * 10 + ("6.18",) * 10


def test_a_fact_that_goes_with_an_effect_is_found_with_its_groups() -> None:
    effects = np.where(np.array(KERNELS) == "6.18", 0.4, 0.0) + 0.05 * RNG.normal(size=20)
    told = pd.DataFrame({"kernel": KERNELS, "noise": RNG.normal(size=20)})
    (found,) = associations(pd.Series(effects), told)
    assert found["name"] == "kernel"
    old, new = found["groups"]
    assert [(one["value"], one["n"]) for one in (old, new)] == [("6.1", 10), ("6.18", 10)]
    assert new["ratio"] / old["ratio"] > math.exp(0.3)


def test_of_many_effects_hardly_one_goes_with_a_fact_by_chance() -> None:
    n_looks, n_reports = 24, 60
    caches = pd.DataFrame({"cache": range(12)})
    wrong = {1: 0, n_looks: 0}
    for _ in range(n_reports):
        # heavier tails than the normal distribution has
        looks = [pd.Series(look) for look in RNG.standard_t(3, size=(n_looks, 12))]
        for n in wrong:
            wrong[n] += any(associations(look, caches, n) for look in looks)
    assert wrong[1] > n_reports // 3
    assert wrong[n_looks] <= n_reports // 8


def test_few_hosts_and_lone_values_tell_nothing() -> None:
    effects = pd.Series([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    assert associations(effects, pd.DataFrame({"kernel": ["a"] * 3 + ["b"] * 3})) == []
    alone = pd.DataFrame({"model": [f"model {k}" for k in range(20)]})
    assert associations(pd.Series(np.arange(20.0)), alone) == []


def test_what_tells_a_host_from_all_others_is_named() -> None:
    usual = {"kernel": "6.1.0", "kernel series": "Linux 6.1", "CPUs": 4, "L2 cache": None}
    other = usual | {"kernel series": "Linux 5.4", "CPUs": 128}
    told = pd.DataFrame([usual, usual, other], index=list("abc"), dtype=object)
    disturbed = pd.Series({"a": 0.0, "b": 0.1, "c": 0.5})
    assert unlike_others("c", told, disturbed) == [
        "kernel series Linux 5.4", "CPUs 128", "50% of its repetitions disturbed",
    ]  # fmt: skip
    assert unlike_others("a", told, disturbed) == []


def test_a_host_was_to_measure_what_its_configuration_says(tmp_path: Path) -> None:
    """Of a node whose job ended early the report says "3 of 28"."""
    grid = {
        "implementations": ["two_copy", "one_copy"], "msg_bytes": ["1KiB", 65536],
        "testbeds": ["veth"], "n_threads": [1], "working_sets": ["hot"], "receivers": ["recv"],
        "placements": ["apart"],
    }  # fmt: skip
    trips = {name: grid[name] for name in grid if name not in ("working_sets", "receivers")}
    udp = grid | {"testbeds": ["sink"], "implementations": []}
    measure = {"repetitions": 4, "minutes": "none", "warmup_s": 0.05, "duration_s": 0.2}
    config = {"streams": grid, "udp": udp, "round_trips": trips, "measure": measure}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    assert _n_planned(path) == 28
    path.write_text(json.dumps(config | {"streams": ["nonsense"]}))
    assert _n_planned(path) == _n_planned(tmp_path / "none.json") == 0
