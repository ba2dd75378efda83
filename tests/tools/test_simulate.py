"""Places and verdicts keep what they promise, on simulated runs of known truth."""

import pytest

from copycost.stats.settings import StatisticsSettings
from tools.simulation.crossovers import ROUNDS, simulate
from tools.simulation.groups import OPPOSITE, comparisons, dependence, extremes
from tools.simulation.noise import DRIFT, NOISES
from tools.simulation.pairs import pairs
from tools.simulation.truths import STREAM_SIZES, truth, truths, with_added_sizes

SETTINGS = StatisticsSettings()
BENT = ("lines", "bends at L1 and L2", "steps at pages", "steps at segments")


@pytest.mark.parametrize("name", BENT)
@pytest.mark.parametrize("noise", [name for name in NOISES if name != DRIFT])
def test_brackets_hold_the_truth_whatever_the_cost_curve(name: str, noise: str) -> None:
    found = [
        simulate(one, noise, 0.05, n_rounds, 50, SETTINGS)
        for one in (truth(name, STREAM_SIZES), with_added_sizes(truth(name, STREAM_SIZES)))
        for n_rounds in ROUNDS
    ]
    n_named = sum(row.n_named for row in found)
    assert n_named > 100
    assert sum(row.n_held for row in found) / n_named >= 0.95


def test_wrong_shapes_are_hardly_ever_told() -> None:
    for one in truths():
        found = [simulate(one, "normal", 0.05, n, 20, SETTINGS) for n in ROUNDS]
        assert sum(row.n_wrong for row in found) / sum(row.n_runs for row in found) <= 0.05


def test_dependence_is_told_where_it_is_and_hardly_elsewhere() -> None:
    found = [row for row in dependence(10, SETTINGS) if row.noise != DRIFT]
    elsewhere = [row for row in found if row.what != OPPOSITE]
    assert sum(row.n_yes for row in elsewhere) / sum(row.n_runs for row in elsewhere) <= 0.01
    many = [row for row in found if row.what == OPPOSITE and row.n_rounds >= 7]
    assert sum(row.n_yes for row in many) / sum(row.n_runs for row in many) >= 0.9


def test_two_crossovers_at_one_place_are_hardly_ever_told_apart() -> None:
    shares = {(row.what, row.noise, row.n_rounds): row.n_yes for row in comparisons(12, SETTINGS)}
    assert max(n for (what, _, _), n in shares.items() if what.startswith("the same")) <= 1
    assert shares["cold at a smaller size: told so", "normal", 10] >= 4


def test_starts_within_a_repetition_make_up_for_two_modes_of_the_starts() -> None:
    held = {(row.what[0], row.noise, row.n_rounds): row.n_yes / row.n_runs
            for row in pairs(20, SETTINGS)}  # fmt: skip
    assert held["1", "two modes of one side", 3] < 0.93 < held["4", "two modes of one side", 3]
    assert min(held.values()) > 0.9


def test_intervals_of_extremes_hold_the_truth_if_they_allow_for_the_choice() -> None:
    found = {(row.what, row.noise, row.n_rounds): row for row in extremes(60, SETTINGS)}
    allowing = found["all cells alike: interval that allows for the choice", "normal", 5]
    plain = found["all cells alike: interval of one cell", "normal", 5]
    assert allowing.n_yes / allowing.n_runs >= 0.95
    assert plain.n_yes < allowing.n_yes
