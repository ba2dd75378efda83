"""Figures over hosts, where there are few and where there are many."""

from typing import Any

import pytest
from unit.compare.hosts.made import facts_of

from copycost.compare.hosts.figures import NAMED_MOST, draw_forest
from copycost.stats.crossover import Outcome

NO_MARK = {
    "up_to": "better up to a size only",
    "mixed": "changing sides more than once",
    "undecided": "undecided",
    "not_measured": "not measured",
}


@pytest.mark.parametrize("outcome", [str(outcome) for outcome in Outcome])
def test_a_mark_or_the_note_tells_where_a_host_turns(outcome: str) -> None:
    (pair,) = facts_of([1.4, 1.5], [True] * 2)["pairs"]
    ends = (4096.0, 16384.0) if outcome == "from" else (None, None)
    place = {"name": "h0", "outcome": outcome, "below_bytes": ends[0], "above_bytes": ends[1]}
    pair["quantities"][0]["turns"] = {"hosts": [place]}
    figure = draw_forest(pair).figure
    (note,) = (" ".join(text.get_text().split()) for text in figure.texts)
    assert bool(figure.axes[-1].lines) != (outcome in NO_MARK)
    assert NO_MARK.get(outcome, "") in note.partition("no mark: ")[2]


def pair(n_hosts: int, metrics: tuple[str, ...]) -> dict[str, Any]:
    ratios = [1.0 + k / n_hosts + k % 2 for k in range(n_hosts)]
    (found,) = facts_of(ratios, [True] * n_hosts)["pairs"]
    (quantity,) = found["quantities"]
    quantity["point"]["outliers"] = quantity["point"]["hosts"][-1:]
    turns = None if metrics[0] == "p50_ns" else quantity["turns"]
    several = [quantity | {"metric": name, "turns": turns} for name in metrics]
    return found | {"quantities": several}


@pytest.mark.parametrize("metrics", [("throughput_bits_per_s",), ("p50_ns", "p99_ns")])
def test_of_many_hosts_those_that_lie_off_are_named(metrics: tuple[str, ...]) -> None:
    n_hosts = 4 * NAMED_MOST
    drawn = draw_forest(pair(n_hosts, metrics))
    drawn.figure.canvas.draw()
    (label,) = drawn.figure.axes[0].get_yticklabels()
    assert label.get_text() == f"h{n_hosts - 1}"
    assert len(drawn.figure.axes) == len(metrics) + (metrics[0] != "p50_ns")
    assert len(drawn.data) == n_hosts * len(metrics)
