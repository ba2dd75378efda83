"""Figures over hosts leave no host without a word."""

import pytest
from unit.compare.hosts.made import facts_of

from copycost.compare.hosts.figures import draw_forest
from copycost.stats.crossover import Outcome

NO_MARK = {
    "up_to": "better up to a size only",
    "mixed": "changing sides more than once",
    "undecided": "undecided",
    "not_measured": "not measured",
}


@pytest.mark.parametrize("outcome", [str(outcome) for outcome in Outcome])
def test_a_mark_or_the_note_tells_where_a_host_turns(outcome: str) -> None:
    ((pair,),) = (
        condition["pairs"] for condition in facts_of([1.4, 1.5], [True] * 2)["conditions"]
    )
    is_bracket = outcome == "from"
    pair["quantities"][0]["turns"] = {"hosts": [
        {"name": "h0", "outcome": outcome, "below_bytes": 4096 if is_bracket else None,
         "above_bytes": 16384 if is_bracket else None}
    ]}  # fmt: skip
    figure = draw_forest(pair).figure
    (note,) = (" ".join(text.get_text().split()) for text in figure.texts)
    assert bool(figure.axes[-1].lines) != (outcome in NO_MARK)
    assert NO_MARK.get(outcome, "") in note.partition("no mark: ")[2]
