"""The figures are drawn from any facts, and their tables tell what is in them."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from budgets import Study, Truth, facts_of

from copycost.cpu_budget.figures import draw
from copycost.cpu_budget.section import FIGURES
from copycost.figures.output import save

TWO = Study((Truth(), Truth(n_streams=2, ceiling=20.0), Truth(testbed="veth")))
NONE = Study((), lost=[("veth", "skipped", "iperf3 was not found", "install it")])


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("study", [TWO, Study(repetitions=1)], ids=["two", "once"])
def test_a_figure_and_its_table_are_written(name: str, study: Study, tmp_path: Path) -> None:
    drawn = draw(name, facts_of(study))
    svg, csv = tmp_path / "f.svg", tmp_path / "f.csv"
    save(drawn, svg, None, csv)
    assert ET.parse(svg).getroot().tag.endswith("svg")
    assert set(drawn.data["state"]) == {"measured"}


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_measured_is_a_sentence(name: str) -> None:
    drawn = draw(name, facts_of(NONE))
    assert drawn.data.empty
    assert "state" in drawn.data.columns
    assert "No CPU limit was measured" in drawn.figure.texts[0].get_text()


def test_saturated_points_are_marked_in_the_table() -> None:
    data = draw("cpu_used", facts_of(TWO)).data
    marked = data[data["saturated"]]
    assert set(marked["n_streams"]) == {2}
