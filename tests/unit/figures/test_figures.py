"""What every figure must hold, whatever the run looked like."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from unit.figures.tables_example import IMPLEMENTATIONS, example, said

from copycost.figures import FIGURES
from copycost.figures.condition import draw
from copycost.figures.markers import way_styles
from copycost.figures.output import save
from copycost.figures.tables import COLUMNS, Drawn, Tables

pytestmark = pytest.mark.slow

LINES = ("speed_and_cost", "time_per_message", "counters")
TWELVE = (*IMPLEMENTATIONS, *(f"further_{place}" for place in range(9)))


def with_holes(implementation: str, msg_bytes: int, n_threads: int, rep: int) -> str:
    if (implementation, n_threads) == ("zero_copy", 8):
        return "failed" if msg_bytes == 65536 else "measured"
    if (implementation, msg_bytes, n_threads) == ("one_copy", 256, 1):
        return "skipped"
    if (implementation, msg_bytes, n_threads, rep) == ("two_copy", 4096, 8, 2):
        return "failed"
    return "measured"


RUNS: dict[str, dict[str, object]] = {
    "default": {},
    "with holes": {"status": with_holes},
    "one cell once": {
        "implementations": ["one_copy"], "sizes": [4096], "threads": [1], "repetitions": 1,
    },
    "one implementation": {"implementations": ["zero_copy"]},
    "one size": {"sizes": [65536]},
    "one thread count": {"threads": [1]},
    "one repetition": {"repetitions": 1},
    "no counter": {"counted": ()},
    "everything failed": {"status": lambda *_: "failed"},
    "everything skipped": {"status": lambda *_: "skipped"},
    "twelve implementations": {"implementations": TWELVE, "sizes": [256, 65536]},
    "many threads and sizes": {
        "sizes": [2**power for power in range(3, 21)], "threads": [1, 2, 3, 4, 6, 8, 12],
        "repetitions": 2, "implementations": ["two_copy", "zero_copy"],
    },
    "one way failed": {"status": lambda name, *_: "failed" if name == "one_copy" else "measured"},
    "gap in the middle": {
        "implementations": ["two_copy"], "threads": [1],
        "status": lambda _name, size, *_: "failed" if size == 4096 else "measured",
    },
    "implementation called null": {"implementations": ["two_copy", "null"]},
}  # fmt: skip


# Runs that some figures draw like any other; the rest is drawn by every figure.
_ONLY = {
    "one implementation": ("speed_and_cost",),
    "one size": ("counters",),
    "one thread count": ("speed_and_cost",),
    "one repetition": ("speed_and_cost", "counters"),
    "gap in the middle": ("speed_and_cost",),
    "one way failed": ("speed_and_cost",),
    "no counter": ("counters",),
    "everything skipped": ("speed_and_cost",),
    "implementation called null": ("speed_and_cost",),
    "twelve implementations": ("speed_and_cost", "time_per_message"),
    "many threads and sizes": ("time_per_message", "speed_and_cost"),
}
PAIRS = [(figure, run) for run in RUNS for figure in _ONLY.get(run, FIGURES)]


@cache
def drawing(figure: str, run: str = "default") -> Drawn:
    """Draw each figure of each run once; tests only look at it."""
    return draw(figure, example(**RUNS[run]))


def drawn_lines(figure: Figure) -> Iterator[tuple[str, Line2D]]:
    """Yield implementation and line of every unbroken stretch of points."""
    for axes in figure.axes:
        for line in axes.lines:
            if str(line.get_gid()).startswith("line-"):
                yield str(line.get_gid()).removeprefix("line-"), line


def drawn_bars(figure: Figure) -> Iterator[tuple[str, LineCollection]]:
    """Yield implementation and intervals of every panel."""
    for axes in figure.axes:
        for container in axes.containers:
            assert isinstance(container, ErrorbarContainer)
            yield str(container.get_label()), container.lines[2][0]


@pytest.mark.parametrize(("figure", "run"), PAIRS)
def test_every_run_gives_every_figure_with_its_table(figure: str, run: str) -> None:
    drawn = drawing(figure, run)
    assert list(drawn.data.columns)[: len(COLUMNS)] == list(COLUMNS)
    width, height = drawn.figure.get_size_inches() * 2.54
    assert width == pytest.approx(16)
    assert height < 25, "must fit a page"


@pytest.mark.parametrize(
    ("figure", "run"),
    [
        *((figure, "with holes") for figure in FIGURES),
        ("speed_and_cost", "one cell once"),
        ("speed_and_cost", "twelve implementations"),
        ("time_per_message", "many threads and sizes"),
        ("speed_and_cost", "many threads and sizes"),
        ("counters", "everything failed"),
    ],
)
def test_nothing_sticks_out_of_the_sheet(figure: str, run: str) -> None:
    drawn = drawing(figure, run)
    drawn.figure.draw_without_rendering()
    extent = drawn.figure.get_tightbbox()
    width, height = drawn.figure.get_size_inches()
    assert extent.x0 >= 0
    assert extent.y0 >= 0
    assert extent.x1 <= width
    assert extent.y1 <= height


@pytest.mark.parametrize("run", ["everything failed", "everything skipped"])
@pytest.mark.parametrize("figure", LINES)
def test_run_without_a_measured_cell_says_so_and_keeps_its_rows(figure: str, run: str) -> None:
    drawn = drawing(figure, run)
    assert "No measured cells on veth." in said(drawn)
    assert set(drawn.data["state"]) <= {run.split()[1]}


@pytest.mark.parametrize("figure", ["speed_and_cost", "time_per_message"])
def test_same_data_gives_the_same_bytes(figure: str, tmp_path: Path) -> None:
    for copy in ("a", "b"):
        drawn = draw(figure, example(status=with_holes, sizes=[256, 65536]))
        save(drawn, tmp_path / f"{copy}.svg")
    for kind in ("svg", "csv"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_svg_needs_no_font_no_script_and_nothing_remote(tmp_path: Path) -> None:
    save(drawing("speed_and_cost"), tmp_path / "a.svg")
    svg = (tmp_path / "a.svg").read_text()
    assert "<text" not in svg
    assert "<script" not in svg
    assert not re.search(r"(href|src)=\"(?!#)", svg)
    assert "<dc:date>" not in svg


@pytest.mark.parametrize("figure", LINES)
def test_csv_holds_exactly_the_points_and_intervals_drawn(figure: str) -> None:
    drawn = drawing(figure, "with holes")
    x = "n_threads" if figure == "time_per_message" else "msg_bytes"
    order = ["implementation", x, "value"]
    shown = [
        (name, *point) for name, line in drawn_lines(drawn.figure)
        for point in zip(*line.get_data(), strict=True)
    ]  # fmt: skip
    assert_same_rows(pd.DataFrame(shown, columns=order), drawn.data.dropna(subset="value")[order])
    order = ["implementation", x, "low", "high"]
    shown = [
        (name, low[0], low[1], high[1])
        for name, bars in drawn_bars(drawn.figure)
        for low, high in bars.get_segments()
    ]
    assert_same_rows(pd.DataFrame(shown, columns=order), drawn.data.dropna(subset="low")[order])


def assert_same_rows(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    columns = list(expected.columns)
    pd.testing.assert_frame_equal(
        found.sort_values(columns, ignore_index=True),
        expected.sort_values(columns, ignore_index=True),
        check_dtype=False,
    )


def test_a_missing_cell_interrupts_the_line() -> None:
    drawn = drawing("speed_and_cost", "gap in the middle")
    stretches = [len(line.get_xdata()) for _, line in drawn_lines(drawn.figure)]
    assert stretches == 2 * [1, 1]


def test_an_implementation_missing_on_one_testbed_lends_its_colour_to_nobody() -> None:
    both = example(implementations=["two_copy", "aaa", "bbb"])
    without = Tables(
        both.condition, both.implementations, both.cost, both.cells,
        both.summary[both.summary["implementation"] != "aaa"],
    )  # fmt: skip
    colours = {
        name: line.get_color() for name, line in drawn_lines(draw("speed_and_cost", without).figure)
    }
    assert colours["bbb"] == way_styles(both.implementations)["bbb"].colour


def test_cells_with_missing_repetitions_are_marked_with_the_implementations_marker() -> None:
    drawn = drawing("speed_and_cost", "with holes")
    marks: dict[str, list[object]] = {}
    for axes in drawn.figure.axes:
        for line in axes.lines:
            if str(line.get_gid()).startswith("missing-"):
                key = f"{axes.get_title(loc='left')} {line.get_gid()}".strip()
                marks.setdefault(key, []).append(line.get_marker())
    assert marks == {
        "1 thread missing-one_copy": ["s"],
        "8 threads missing-two_copy": ["o", "x"],
        "8 threads missing-zero_copy": ["^", "x"],
        "missing-one_copy": ["s"],
        "missing-two_copy": ["o", "x"],
        "missing-zero_copy": ["^", "x"],
    }
    assert "skipped (hollow mark) and failed (crossed mark) repetitions" in said(drawn)
