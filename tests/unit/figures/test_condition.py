"""What the figures of a condition must hold, whatever the run looked like."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from unit.figures.tables_example import (
    IMPLEMENTATIONS,
    example,
    example_cells,
    example_summary,
    said,
    tables_from,
)

from copycost.figures import AUDIT_FIGURES
from copycost.figures.condition import draw
from copycost.figures.markers import families, way_styles
from copycost.figures.output import save
from copycost.figures.style import EDGE
from copycost.figures.tables import COLUMNS, Drawn, tables_of

pytestmark = pytest.mark.slow

SMALL = {"sizes": [4096, 65536], "threads": [1]}
THIRTEEN = (
    "two_copy", "one_copy", "write_v", "uring_send", "uring_sendmsg", "zero_copy",
    "uring_zero_copy", "sendfile", "splice", "splice_gift", "sendmmsg_x16", "uring_send_x8", "mine",
)  # fmt: skip


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
    "no counter": {"counted": ()},
    "everything failed": {"status": lambda *_: "failed"},
    "thirteen ways": {
        "implementations": THIRTEEN, "sizes": [4096, 65536, 262144], "threads": [1, 4],
    },
    "many threads and sizes": {
        "sizes": [2**power for power in range(3, 21)], "threads": [1, 2, 3, 4, 6, 8, 12],
        "repetitions": 2, "implementations": ["two_copy", "zero_copy"],
    },
    "gap in the middle": {
        "implementations": ["two_copy"], "threads": [1],
        "status": lambda _name, size, *_: "failed" if size == 4096 else "measured",
    },
    "implementation called null": {"implementations": ["two_copy", "null"]},
}  # fmt: skip


@cache
def drawing(figure: str, run: str = "default") -> Drawn:
    """Draw each figure of each run once; tests only look at it."""
    return draw(figure, example(**RUNS[run]))


def lines_of(drawn: Drawn, prefix: str, panel: int | None = None) -> list[tuple[str, Line2D]]:
    """Return implementation and line of all lines whose id begins with a prefix."""
    return [
        (str(line.get_gid()).removeprefix(prefix), line)
        for place, axes in enumerate(drawn.figure.axes)
        if panel in (None, place)
        for line in axes.lines
        if str(line.get_gid()).startswith(prefix)
    ]


def titles(drawn: Drawn) -> list[str]:
    return [axes.get_title(loc="left") for axes in drawn.figure.axes if axes.get_visible()]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("figure", AUDIT_FIGURES)
def test_every_run_gives_every_figure_with_its_table_on_a_page(figure: str, run: str) -> None:
    drawn = drawing(figure, run)
    assert list(drawn.data.columns)[: len(COLUMNS)] == list(COLUMNS)
    drawn.figure.draw_without_rendering()
    extent, (width, height) = drawn.figure.get_tightbbox(), drawn.figure.get_size_inches()
    assert width * 2.54 == pytest.approx(16)
    assert height * 2.54 < 25, "must fit a page"
    assert min(extent.x0, extent.y0, width - extent.x1, height - extent.y1) >= 0
    if run == "everything failed":
        assert "No measured cells on veth." in said(drawn)
        assert set(drawn.data["state"]) <= {"failed"}


def test_same_data_gives_the_same_bytes_and_an_svg_needs_nothing_else(tmp_path: Path) -> None:
    for copy in ("a", "b"):
        drawn = draw("speed_and_cost", example(status=with_holes, sizes=[256, 65536]))
        save(drawn, tmp_path / f"{copy}.svg")
    for kind in ("svg", "csv"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    svg = (tmp_path / "a.svg").read_text()
    assert not re.search(r"<text|<script|<dc:date>|(href|src)=\"(?!#)", svg)


@pytest.mark.parametrize("figure", AUDIT_FIGURES)
def test_csv_holds_exactly_the_points_and_intervals_drawn(figure: str) -> None:
    drawn = drawing(figure, "with holes")
    x = "n_threads" if figure == "time_per_message" else "msg_bytes"
    points = [
        (name, *point)
        for name, line in lines_of(drawn, "line-")
        for point in zip(*line.get_data(), strict=True)
    ]
    intervals = [
        (bars.get_label(), low[0], low[1], high[1])
        for axes in drawn.figure.axes
        for bars in axes.containers
        for low, high in bars.lines[2][0].get_segments()
    ]
    for shown, columns in ((points, ["value"]), (intervals, ["low", "high"])):
        order = ["implementation", x, *columns]
        expected = drawn.data.dropna(subset=columns)[order]
        pd.testing.assert_frame_equal(
            pd.DataFrame(shown, columns=order).sort_values(order, ignore_index=True),
            expected.sort_values(order, ignore_index=True),
            check_dtype=False,
        )


def test_a_missing_cell_interrupts_the_line() -> None:
    stretches = lines_of(drawing("speed_and_cost", "gap in the middle"), "line-")
    assert [len(line.get_xdata()) for _, line in stretches] == 2 * [1, 1]


def test_cells_with_missing_repetitions_are_marked_with_the_implementations_marker() -> None:
    drawn = drawing("speed_and_cost", "with holes")
    marks: dict[str, list[object]] = {}
    for name, line in lines_of(drawn, "missing-"):
        assert line.axes is not None
        marks.setdefault(f"{line.axes.get_title(loc='left')} {name}", []).append(line.get_marker())
    expected = {"1 thread one_copy": ["s"], "8 threads two_copy": ["o", "x"],
                "8 threads zero_copy": ["^", "x"]}  # fmt: skip
    costs = {f" {name.split()[-1]}": found for name, found in expected.items()}
    assert marks == expected | costs
    assert "skipped (hollow mark) and failed (crossed mark) repetitions" in said(drawn)


def test_throughput_and_cost_have_a_row_each_and_a_panel_per_thread_count() -> None:
    drawn = drawing("speed_and_cost")
    assert titles(drawn) == ["1 thread", "8 threads", "", ""]
    cell = "implementation == 'two_copy' and msg_bytes == 4096 and n_threads == 8"
    bits = example().summary.query(f"metric == 'throughput_bits_per_s' and {cell}")["median"].item()
    shown = drawn.data.query(f"quantity == 'throughput' and {cell}")["value"].item()
    assert shown == pytest.approx(bits / 1e9)
    limits = [axes.get_ylim() for axes in drawn.figure.axes]
    assert len(set(limits[:2])) == len(set(limits[2:])) == 1


def test_without_counters_the_cost_is_cpu_time_and_one_thread_count_has_one_row() -> None:
    drawn = draw("speed_and_cost", example(threads=[2], counted=()))
    assert titles(drawn) == ["throughput [Gbit/s]", "CPU time, both [ns/B]"]
    assert "2 threads." in said(drawn)
    assert "Cycles were not counted on this host." in said(drawn)
    counted = {axes.get_ylabel() for axes in drawing("speed_and_cost").figure.axes}
    assert "CPU cycles, both\n[cycles/B]" in counted


def test_counters_not_counted_are_named_with_the_reason() -> None:
    drawn = draw("counters", example(counted=("cache_misses",)))
    assert set(drawn.data["quantity"]) == {"cache misses", "context switches"}
    assert (
        "Not counted on this host: L1d load misses (not supported), LLC load misses (not supported)"
    ) in said(drawn)
    cells = example_cells(**SMALL, counted=())
    cells["context_switches_per_message"] = np.nan
    cells[["sender_context_switches_status", "receiver_context_switches_status"]] = "forbidden"
    drawn = draw("counters", tables_from(cells))
    assert drawn.data.empty
    assert "context switches (forbidden)" in said(drawn)


@pytest.mark.parametrize("high", [1e18, np.inf])
def test_interval_over_decades_is_cut_and_the_note_says_so(high: float) -> None:
    cells = example_cells(sizes=[256, 4096], threads=[1])
    summary = example_summary(cells)
    place = (summary["metric"] == "throughput_bits_per_s") & (summary["msg_bytes"] == 256)
    summary.loc[place, "high"] = high
    drawn = draw("speed_and_cost", tables_of("veth", cells, summary))
    axes = drawn.figure.axes[0]
    assert axes.get_ylim()[1] < 6 * drawn.data.query("quantity == 'throughput'")["value"].max()
    assert "Carets at the edge: the interval extends beyond the axis." in said(drawn)
    marks = lines_of(drawn, "cut-")
    assert [name for name, _ in marks] == list(IMPLEMENTATIONS)
    assert [line.get_ydata()[0] for _, line in marks] == pytest.approx([axes.get_ylim()[1]] * 3)
    assert (drawn.data["high"] == high * 1e-9).any(), "the CSV keeps the interval as it is"


def test_two_modes_are_both_marked_in_place_of_an_interval() -> None:
    cells = example_cells(**SMALL)
    summary = example_summary(cells)
    cell = (summary["metric"] == "throughput_bits_per_s") & (summary["msg_bytes"] == 4096)
    cell &= summary["implementation"] == "one_copy"
    summary.loc[cell, ["lower_mode", "upper_mode"]] = [[2e9, 9e9]]
    drawn = draw("speed_and_cost", tables_of("veth", cells, summary))
    ((name, bar),) = lines_of(drawn, "modes-")
    assert (name, list(bar.get_ydata())) == ("one_copy", [2.0, 9.0])
    assert "Dotted bars" in said(drawn)
    modes = drawn.data[["lower_mode", "upper_mode"]].dropna()
    assert modes.to_numpy().tolist() == [[2.0, 9.0]]


@pytest.mark.parametrize("figure", AUDIT_FIGURES)
def test_of_many_ways_families_are_rows_with_a_legend_each_and_others_grey(figure: str) -> None:
    drawn = drawing(figure, "thirteen ways")
    boxes = [axes.get_legend() for axes in drawn.figure.axes if axes.get_legend()]
    told = [
        (box.get_title().get_text(), {text.get_text().split("\n")[0] for text in box.get_texts()})
        for box in boxes
    ]
    groups = families(THIRTEEN)
    assert told == [(family.name, set(family.members)) for family in groups]
    assert "Grey lines: the other implementations." in said(drawn)
    left_out = "Not drawn for lack of room: 4 threads." in said(drawn)
    assert left_out == (figure != "time_per_message")
    n_columns = len(drawn.figure.axes) // len(groups)
    styles = way_styles(THIRTEEN)
    for place, axes in enumerate(drawn.figure.axes):
        family = groups[place // n_columns]
        named = {name: line.get_color() for name, line in lines_of(drawn, "line-", place)}
        assert named == {name: styles[name].colour for name in family.members}
        grey = [line for line in axes.lines if to_hex(line.get_color()) == EDGE]
        assert len(grey) == len(THIRTEEN) - len(family.members)


def test_where_nobody_receives_the_cost_is_the_senders_alone() -> None:
    tables = tables_from(example_cells(testbed="sink", sizes=[4096, 32768]), "sink")
    assert tables.sides == ("sender",)
    drawn = draw("speed_and_cost", tables)
    assert set(drawn.data["quantity"]) == {"throughput", "CPU cycles, sender"}
    assert "the cost is the sender's, since there is no receiver" in said(drawn)
    assert "The sender alone, since there is no receiver." in said(draw("counters", tables))
