"""The figures are drawn from any facts, and their tables tell what is in them."""

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import budgets
import datagram_tables
import pytest
from budgets import Truth as Budget
from datagram_tables import Truth as Datagrams

from copycost.config.studies import FIGURES
from copycost.figures.output import save
from copycost.figures.tables import Drawn
from copycost.studies.cpu_budget import figures as budget_figures
from copycost.studies.datagrams import figures as datagram_figures

pytestmark = pytest.mark.slow

NO_IPERF3 = ("skipped", "iperf3 was not found", "install it")


@dataclass(frozen=True)
class Chapter:
    """How a study's figures are drawn, what stands in place of one of nothing, and runs of it."""

    draw: Callable[[str, Mapping[str, Any]], Drawn]
    facts_of: Callable[[Any], Mapping[str, Any]]
    sentence: str
    several: object
    four: object
    nothing: object


BUDGETS = Chapter(
    lambda _, facts: budget_figures.draw_bitrate(facts),
    budgets.facts_of,
    "No CPU limit was measured",
    budgets.Study((Budget(), Budget(n_threads=2, ceiling=20.0), Budget(testbed="veth"))),
    budgets.Study(
        [
            Budget(implementation=implementation, limiter=limiter)
            for implementation in ("iperf3", "two_copy")
            for limiter in ("cgroup", "cpulimit")
        ],
        repetitions=1,
    ),
    budgets.Study((), lost=[("veth", *NO_IPERF3)]),
)
DATAGRAMS = Chapter(
    datagram_figures.draw,
    datagram_tables.facts_of,
    "No datagrams were measured",
    datagram_tables.Study((Datagrams(), Datagrams(n_threads=2), Datagrams(testbed="loopback"))),
    datagram_tables.Study(
        [
            Datagrams(testbed=testbed, implementation=implementation)
            for testbed in ("veth_udp", "loopback")
            for implementation in ("iperf3", "one_copy")
        ],
        repetitions=1,
    ),
    datagram_tables.Study((), lost=[NO_IPERF3]),
)
each_figure = pytest.mark.parametrize(
    ("chapter", "name"),
    [
        *(pytest.param(BUDGETS, name, id=f"cpu_budget-{name}") for name in FIGURES["cpu_budget"]),
        *(pytest.param(DATAGRAMS, name, id=f"datagrams-{name}") for name in FIGURES["datagrams"]),
    ],
)


@each_figure
def test_a_figure_and_its_table_are_written(chapter: Chapter, name: str, tmp_path: Path) -> None:
    drawn = chapter.draw(name, chapter.facts_of(chapter.several))
    save(drawn, tmp_path / "f.svg")
    assert ET.parse(tmp_path / "f.svg").getroot().tag.endswith("svg")
    assert set(drawn.data["state"]) == {"measured"}


@each_figure
def test_the_words_of_four_panels_of_one_repetition_do_not_meet(
    chapter: Chapter, name: str
) -> None:
    figure = chapter.draw(name, chapter.facts_of(chapter.four)).figure
    figure.draw_without_rendering()
    for words in (
        [axes.title for axes in figure.axes],
        [axes.xaxis.label for axes in figure.axes],
    ):
        boxes = [text.get_window_extent() for text in words if text.get_text()]
        for index, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[index + 1 :])
        assert all(box.x1 <= figure.bbox.x1 for box in boxes)


@each_figure
def test_nothing_measured_is_a_sentence(chapter: Chapter, name: str) -> None:
    drawn = chapter.draw(name, chapter.facts_of(chapter.nothing))
    assert drawn.data.empty
    assert "state" in drawn.data.columns
    assert chapter.sentence in drawn.figure.texts[0].get_text()


def test_saturated_points_are_marked_in_the_table() -> None:
    data = BUDGETS.draw("bitrate", BUDGETS.facts_of(BUDGETS.several)).data
    marked = data[data["saturated"]]
    assert set(marked["n_threads"]) == {2}
