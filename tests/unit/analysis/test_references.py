"""Repetitions that measured a reference beside them: their ratios, and the control."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from analysed import facts_of, inputs_of, text_of
from synthetic import Run, make_cells

from copycost.analysis.control import control_of
from copycost.analysis.log_ratios import LogCube
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.analysis.tables import compare, summarise
from copycost.analysis.throughput_factors import explain_pair
from copycost.records.columns import PAIRED
from copycost.studies.streams.facts import compute_facts, views_of

pytestmark = pytest.mark.slow

WAYS = ("two_copy", "one_copy", "zero_copy")
LOGS = {"two_copy": 0.0, "one_copy": 0.3, "zero_copy": -0.7}
RUN = Run(
    msg_bytes=(1024, 65536), n_threads=(1, 2), repetitions=5, noise=0.0,
    log_ratio=lambda name, size, n: LOGS[name],
)  # fmt: skip


def drifting(
    rng: np.random.Generator, bias: float = 0.0, noise: float = 0.0, run: Run = RUN
) -> pd.DataFrame:
    """Return cells whose level moves by up to half from one repetition to the next.

    Each has the reference beside it, at the same level but for some noise; `bias` is by how much
    the logarithm of what stands first in a repetition is too high.
    """
    cells = make_cells(run)
    truth = cells.set_index(["implementation", "msg_bytes", "n_threads"])
    truth = truth[~truth.index.duplicated()]
    keys = [("two_copy", *key) for key in zip(cells["msg_bytes"], cells["n_threads"], strict=True)]
    level = rng.uniform(-0.4, 0.4, len(cells))
    beside = {"reference": "two_copy"}
    for name in PAIRED:
        off = bias + noise * rng.standard_normal(len(cells))
        beside[f"reference_{name}"] = truth.loc[keys, name].to_numpy() * np.exp(level)
        cells[name] *= np.exp(level + off)
    return cells.assign(**beside)


def test_a_ratio_is_that_of_the_repetition_whatever_the_level_of_each() -> None:
    cells = drifting(np.random.default_rng(1))
    cube = LogCube(cells)
    for name, baseline in product(WAYS, WAYS):
        logs = cube.pair(THROUGHPUT, name, baseline)
        assert logs.to_numpy() == pytest.approx(LOGS[name] - LOGS[baseline])
    own = cube.values(THROUGHPUT, "one_copy") - cube.values(THROUGHPUT, "two_copy")
    assert own.std(axis=1).min() > 0.1


def test_a_reference_is_summarised_and_compared_with_itself_over_windows_beside_others_too() -> (
    None
):
    cells = drifting(np.random.default_rng(1))
    two = cells["implementation"] == "two_copy"
    cells = cells[~(two & (cells["msg_bytes"] == 65536)) & ~(two & (cells["rep"] > 3))]
    for name, n_rounds in (("two_copy", [3 + 5 + 5]), ("one_copy", [5, 5])):
        logs = LogCube(cells).threads(THROUGHPUT, name, 2, 1)
        assert logs.notna().sum(axis=1).tolist() == n_rounds
    table = summarise(cells, StatisticsSettings())
    told = table.set_index(["metric", "implementation", "msg_bytes", "n_threads"])
    n = {name: told.loc[(THROUGHPUT, name, 1024, 1), "n"] for name in WAYS}
    assert n == {"two_copy": 3 + 2 * 5, "one_copy": 5, "zero_copy": 5}
    here = cells[(cells["msg_bytes"] == 1024) & (cells["n_threads"] == 1)]
    others = here.loc[here["implementation"] != "two_copy", f"reference_{THROUGHPUT}"]
    own = here.loc[here["implementation"] == "two_copy", THROUGHPUT]
    assert told.loc[(THROUGHPUT, "two_copy", 1024, 1), "median"] == np.median([*own, *others])
    assert told.loc[("service_median_ns", "two_copy", 1024, 1), "n"] == 3  # not told of a reference
    assert (THROUGHPUT, "two_copy", 65536, 1) not in told.index  # that has no cell there


def test_every_repetition_beside_the_reference_counts_whatever_it_has_of_its_own() -> None:
    cells = drifting(np.random.default_rng(1))
    own = cells["implementation"] == "two_copy"
    for kept in (cells[~own | (cells["rep"] == 2)], cells[~own]):
        cube = LogCube(kept)
        for name in ("one_copy", "zero_copy"):
            logs = cube.pair(THROUGHPUT, name, "two_copy").to_numpy()
            assert logs == pytest.approx(np.full((4, 5), LOGS[name]))
            assert cube.pair(THROUGHPUT, "two_copy", name).notna().all(axis=None)
        above, below = cube.levels(THROUGHPUT, "two_copy", "one_copy")
        assert (above - below).to_numpy() == pytest.approx(np.full((4, 5), -0.3))
    alone = cells[own | (cells["rep"] != 4) | (cells["implementation"] != "one_copy")]
    logs = LogCube(alone).pair(THROUGHPUT, "zero_copy", "one_copy")
    assert [*logs.columns[logs.notna().all()]] == [1, 2, 3, 5]

    former = (cells["rep"] == 1) & (cells["implementation"] == "zero_copy")
    cells.loc[former, "reference"] = "one_copy"
    logs = LogCube(cells).pair(THROUGHPUT, "zero_copy", "two_copy")
    assert [*logs.columns[logs.notna().all()]] == [2, 3, 4, 5], "not beside another reference"


def test_without_a_reference_values_of_the_same_round_are_compared() -> None:
    cells = make_cells(replace(RUN, noise=0.02))
    nothing = {f"reference_{name}": np.nan for name in PAIRED}
    empty = cells.assign(reference=pd.Series(pd.NA, cells.index, dtype="str"), **nothing)
    first, second = (compare(each, StatisticsSettings()) for each in (cells, empty))
    pd.testing.assert_frame_equal(first, second)
    assert compute_facts(inputs_of(RUN, empty)) == compute_facts(inputs_of(RUN, cells))
    assert facts_of(RUN)["control"] is None
    # what the reference was not counted for is compared by rounds, too
    paired = drifting(np.random.default_rng(1))
    uncounted = paired.assign(reference_both_cpu_ns_per_byte=np.nan)
    found = LogCube(uncounted).pair("both_cpu_ns_per_byte", "one_copy", "two_copy")
    one, two = (LogCube(uncounted).values("both_cpu_ns_per_byte", name) for name in WAYS[1::-1])
    pd.testing.assert_frame_equal(found, (one - two)[[*found]])


def test_decisions_and_their_explanations_are_of_the_repetitions_own_reference() -> None:
    cells = drifting(np.random.default_rng(2), noise=0.003)
    facts = compute_facts(inputs_of(RUN, cells))
    for row in facts["conditions"]["veth"]["decisions"]["rows"]:
        assert row["n_threads"] == [1, 2]
        assert (row["fastest"]["verdict"], row["fastest"]["subject"]) == ("best", "one_copy")
        assert row["fastest"]["estimate"] == pytest.approx(np.exp(0.3), rel=0.01)
    view = views_of(inputs_of(RUN, cells))["veth"]
    where = [(1024, 1), (65536, 2)]
    for name, baseline in (("zero_copy", "two_copy"), ("zero_copy", "one_copy")):
        found = explain_pair(view, name, baseline, where)
        assert found is not None
        ratio = np.exp(LOGS[name] - LOGS[baseline])
        told = {quantity: one.value for quantity, one in found.ratios.items()}
        assert told["throughput_bits_per_s"] == pytest.approx(ratio, rel=0.02)
        whole = told["cpus_in_use"] / told["cpu_ns_per_byte"]
        assert whole == pytest.approx(told["throughput_bits_per_s"], rel=1e-9)


def test_the_control_says_what_the_reference_came_to_against_itself_and_flags_a_bias() -> None:
    facts = facts_of(RUN, drifting(np.random.default_rng(3), noise=0.02))
    assert "Compared with itself, as every other way is, `two_copy`" in text_of(facts, "decisions")
    found = facts["control"]
    assert (found["implementations"], found["chance"]) == (["two_copy"], pytest.approx(0.05))
    whole = found["throughput"]
    assert [whole[name] for name in ("n", "n_tested", "sign", "n_apart")] == [20, 4, 0, 0]
    assert whole["low"] < 1.0 < whole["high"]
    assert found["conditions"] == [{"slug": "veth", "throughput": whole}]
    cells = drifting(np.random.default_rng(3), bias=0.05, noise=0.01)
    whole = facts_of(RUN, cells)["control"]["throughput"]
    assert (whole["sign"], whole["n_apart"]) == (1, 4)
    assert whole["low"] < np.exp(0.05) < whole["high"]
    alone = {"veth": cells[cells["rep"] == 1]}
    once = control_of(alone, "throughput", THROUGHPUT, 0.95)
    assert once is not None
    assert (once["throughput"]["n_tested"], once["throughput"]["n_apart"]) == (0, 0)
