"""The figures are drawn from any facts, and their tables tell what is in them."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from datagram_tables import Study, Truth, facts_of

from copycost.datagrams.figures import draw
from copycost.datagrams.section import FIGURES
from copycost.figures.output import save

TWO = Study((Truth(), Truth(n_streams=2), Truth(testbed="loopback")))
NONE = Study((), lost=[("skipped", "iperf3 was not found", "install it")])


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
    assert "No datagrams were measured" in drawn.figure.texts[0].get_text()
