"""What one figure alone has to show."""

import numpy as np
import pytest
from unit.figures.tables_example import (
    EVENTS,
    IMPLEMENTATIONS,
    example,
    example_cells,
    example_summary,
    said,
    tables_from,
)

from copycost.figures.condition import draw
from copycost.figures.tables import Drawn, tables_of

pytestmark = pytest.mark.slow

SMALL = {"sizes": [4096, 65536], "threads": [1]}


def titles(drawn: Drawn) -> list[str]:
    return [axes.get_title(loc="left") for axes in drawn.figure.axes if axes.get_visible()]


def test_throughput_and_cost_have_a_row_each_and_a_panel_per_thread_count() -> None:
    tables = example(threads=[1, 2, 4, 8])
    drawn = draw("speed_and_cost", tables)
    assert titles(drawn) == ["1 thread", "2 threads", "4 threads", "8 threads", *4 * [""]]
    bits = tables.summary.query(
        "metric == 'throughput_bits_per_s' and implementation == 'two_copy'"
        " and msg_bytes == 4096 and n_threads == 2"
    )["median"].item()
    shown = drawn.data.query(
        "quantity == 'throughput' and implementation == 'two_copy' and msg_bytes == 4096"
        " and n_threads == 2"
    )["value"].item()
    assert shown == pytest.approx(bits / 1e9)
    limits = [axes.get_ylim() for axes in drawn.figure.axes]
    assert len(set(limits[:4])) == len(set(limits[4:])) == 1


def test_of_one_thread_count_throughput_and_cost_stand_side_by_side() -> None:
    drawn = draw("speed_and_cost", example(threads=[2], counted=()))
    assert titles(drawn) == ["throughput [Gbit/s]", "CPU time, both [ns/B]"]
    assert "2 threads." in said(drawn)


def test_counters_not_counted_are_named_with_the_reason() -> None:
    drawn = draw("counters", example(counted=("cache_misses",)))
    assert set(drawn.data["quantity"]) == {"cache misses", "context switches"}
    assert (
        "Not counted on this host: L1d load misses (not supported), LLC load misses (not supported)"
    ) in said(drawn)


def test_counters_without_any_say_why_there_are_none() -> None:
    cells = example_cells(**SMALL, counted=())
    cells["context_switches_per_message"] = np.nan
    cells[["sender_context_switches_status", "receiver_context_switches_status"]] = "forbidden"
    drawn = draw("counters", tables_from(cells))
    assert drawn.data.empty
    assert "context switches (forbidden)" in said(drawn)


@pytest.mark.parametrize(
    ("counted", "label", "sentence"),
    [
        (EVENTS, "CPU cycles, both [cycles/B]", ""),
        (("ref_cycles",), "CPU time, both [ns/B]", "Cycles were not counted on this host."),
        ((), "CPU time, both [ns/B]", "Cycles were not counted on this host."),
    ],
)
def test_cost_of_a_byte_is_in_cycles_where_counted_and_says_what_it_is_elsewhere(
    counted: tuple[str, ...], label: str, sentence: str
) -> None:
    drawn = draw("speed_and_cost", example(counted=counted))
    labels = {axes.get_ylabel().replace("\n", " ") for axes in drawn.figure.axes} - {""}
    assert labels == {"throughput [Gbit/s]", label}
    assert sentence in said(drawn)


def wide_interval(high: float) -> Drawn:
    cells = example_cells(sizes=[256, 4096], threads=[1])
    summary = example_summary(cells)
    place = (summary["metric"] == "throughput_bits_per_s") & (summary["msg_bytes"] == 256)
    summary.loc[place, "high"] = high
    return draw("speed_and_cost", tables_of("veth", cells, summary))


@pytest.mark.parametrize("high", [1e18, np.inf])
def test_interval_over_decades_is_cut_and_the_note_says_so(high: float) -> None:
    drawn = wide_interval(high)
    most = drawn.data.query("quantity == 'throughput'")["value"].max()
    assert drawn.figure.axes[0].get_ylim()[1] < 6 * most
    assert "Carets at the edge: the interval extends beyond the axis." in said(drawn)
    axes = drawn.figure.axes[0]
    marks = [line for line in axes.lines if str(line.get_gid()).startswith("cut-")]
    assert [line.get_gid() for line in marks] == [f"cut-{name}" for name in IMPLEMENTATIONS]
    assert [line.get_ydata()[0] for line in marks] == pytest.approx([axes.get_ylim()[1]] * 3)
    assert (drawn.data["high"] == high * 1e-9).any(), "the CSV keeps the interval as it is"


def test_two_modes_are_both_marked_in_place_of_an_interval() -> None:
    cells = example_cells(**SMALL)
    summary = example_summary(cells)
    cell = (summary["metric"] == "throughput_bits_per_s") & (summary["msg_bytes"] == 4096)
    cell &= summary["implementation"] == "one_copy"
    summary.loc[cell, ["lower_mode", "upper_mode"]] = [[2e9, 9e9]]
    drawn = draw("speed_and_cost", tables_of("veth", cells, summary))
    axes = drawn.figure.axes[0]
    (bar,) = [line for line in axes.lines if line.get_gid() == "modes-one_copy"]
    assert list(bar.get_ydata()) == [2.0, 9.0]
    assert "Dotted bars" in said(drawn)
    rows = drawn.data.set_index(["quantity", "implementation", "msg_bytes"])
    row = rows.loc[("throughput", "one_copy", 4096)]
    assert (row["lower_mode"], row["upper_mode"]) == (2.0, 9.0)
