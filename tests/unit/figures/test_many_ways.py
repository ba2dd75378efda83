"""Figures of many implementations, and of conditions where nobody receives."""

from functools import cache

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from unit.figures.tables_example import example, example_cells, said, tables_from

from copycost.figures.condition import draw
from copycost.figures.markers import families, way_styles
from copycost.figures.style import EDGE
from copycost.figures.tables import Drawn

pytestmark = pytest.mark.slow

THIRTEEN = (
    "two_copy", "one_copy", "write_v", "uring_send", "uring_sendmsg", "zero_copy",
    "uring_zero_copy", "sendfile", "splice", "splice_gift", "sendmmsg_x16", "uring_send_x8", "mine",
)  # fmt: skip


@cache
def crowded(figure: str, threads: tuple[int, ...] = (1,)) -> Drawn:
    return draw(
        figure, example(implementations=THIRTEEN, sizes=[4096, 65536, 262144], threads=threads)
    )


def legends(figure: Figure) -> list[list[str]]:
    """Return the entries of each legend beside a row of panels, with its title first."""
    found = [axes.get_legend() for axes in figure.axes if axes.get_legend()]
    return [
        [box.get_title().get_text(), *(text.get_text().split("\n")[0] for text in box.get_texts())]
        for box in found
    ]


@pytest.mark.parametrize("figure", ["speed_and_cost", "time_per_message", "counters"])
def test_families_are_rows_with_a_legend_each(figure: str) -> None:
    expected = [[family.name, *family.members] for family in families(THIRTEEN)]
    found = legends(crowded(figure).figure)
    assert [[title, sorted(names)] for title, *names in found] == [
        [title, sorted(names)] for title, *names in expected
    ]
    assert "Grey lines: the other implementations." in said(crowded(figure))
    assert crowded(figure).figure.get_size_inches()[1] * 2.54 < 25, "must fit a page"


def test_lines_of_other_families_are_grey_and_have_no_name() -> None:
    styles = way_styles(THIRTEEN)
    rows = [family for family in families(THIRTEEN) for _ in ("throughput", "cost")]
    for axes, family in zip(crowded("speed_and_cost").figure.axes, rows, strict=True):
        named = [line for line in axes.lines if str(line.get_gid()).startswith("line-")]
        assert {line.get_gid().removeprefix("line-") for line in named} == set(family.members)
        for line in named:
            assert line.get_color() == styles[line.get_gid().removeprefix("line-")].colour
        others = [line for line in axes.lines if to_hex(line.get_color()) == EDGE]
        assert len(others) == len(THIRTEEN) - len(family.members)
        assert not {line.get_gid() for line in others} & {line.get_gid() for line in named}


def test_crowded_panels_of_more_thread_counts_than_fit_name_those_left_out() -> None:
    assert "Not drawn for lack of room: 4, 8 threads." in said(crowded("speed_and_cost", (1, 4, 8)))


def test_where_nobody_receives_the_cost_is_the_senders_alone() -> None:
    tables = tables_from(example_cells(testbed="sink", sizes=[4096, 32768]), "sink")
    assert tables.sides == ("sender",)
    drawn = draw("speed_and_cost", tables)
    assert set(drawn.data["quantity"]) == {"throughput", "CPU cycles, sender"}
    assert "the cost is the sender's, since there is no receiver" in said(drawn)
    assert "The sender alone, since there is no receiver." in said(draw("counters", tables))
