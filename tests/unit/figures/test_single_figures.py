"""What one figure alone has to show."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from unit.figures.tables_example import (
    EVENTS,
    IMPLEMENTATIONS,
    example,
    example_cells,
    example_ratios,
    example_summary,
)

from copycost.figures.output import draw
from copycost.figures.tables import Drawn, tables_of
from copycost.wording.percent import NBSP

pytestmark = pytest.mark.slow

SMALL = {"sizes": [4096, 65536], "threads": [1]}


def titles(drawn: Drawn) -> list[str]:
    return [axes.get_title(loc="left") for axes in drawn.figure.axes if axes.get_visible()]


def note(drawn: Drawn) -> str:
    said = " ".join(text.get_text().replace("\n", " ") for text in drawn.figure.texts)
    return said.replace(NBSP, " ")


def cell_texts(figure: Figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_throughput_has_one_panel_per_thread_count_in_gbit_per_s() -> None:
    tables = example(threads=[1, 2, 4, 8])
    drawn = draw("throughput", tables)
    assert titles(drawn) == ["1 thread", "2 threads", "4 threads", "8 threads"]
    bits = tables.summary.query(
        "metric == 'throughput_bits_per_s' and implementation == 'two_copy'"
        " and msg_bytes == 4096 and n_threads == 2"
    )["median"].item()
    shown = drawn.data.query(
        "implementation == 'two_copy' and msg_bytes == 4096 and n_threads == 2"
    )["value"].item()
    assert shown == pytest.approx(bits / 1e9)


def test_throughput_panels_share_their_vertical_axis() -> None:
    limits = {axes.get_ylim() for axes in draw("throughput", example()).figure.axes}
    assert len(limits) == 1


def test_time_per_message_has_one_panel_per_size_from_zero() -> None:
    drawn = draw("time_per_message", example())
    assert titles(drawn)[:3] == ["256 B", "4 KiB", "64 KiB"]
    assert {axes.get_ylim()[0] for axes in drawn.figure.axes if axes.get_visible()} == {0.0}


def test_time_per_message_of_many_sizes_names_those_without_a_panel() -> None:
    one = example(sizes=range(100, 2000, 100), threads=[1, 2], implementations=["two_copy"])
    drawn = draw("time_per_message", one)
    assert len(titles(drawn)) == 15
    assert "Not drawn for want of room: 300, 700, 1300, 1700 B." in note(drawn) or re.search(
        r"Not drawn for want of room: (\d+, ){3}\d+ B\.", note(drawn)
    )


def test_counters_not_counted_are_named_with_the_reason() -> None:
    drawn = draw("counters", example(counted=("cache_misses",)))
    assert set(drawn.data["quantity"]) == {"cache misses", "context switches"}
    assert (
        "Not counted on this host: L1d load misses (not supported), LLC load misses (not supported)"
    ) in note(drawn)


def test_counters_without_any_say_why_there_are_none() -> None:
    cells = example_cells(**SMALL, counted=())
    cells["context_switches_per_message"] = np.nan
    cells[["sender_context_switches_status", "receiver_context_switches_status"]] = "forbidden"
    summary = example_summary(cells)
    drawn = draw("counters", tables_of("veth", cells, summary, example_ratios(summary)))
    assert drawn.data.empty
    assert "context switches (forbidden)" in note(drawn)


def test_counter_that_reads_zero_everywhere_is_not_drawn_as_a_measurement() -> None:
    cells = example_cells(**SMALL)
    cells["both_llc_load_misses_per_byte"] = 0.0
    summary = example_summary(cells)
    drawn = draw("counters", tables_of("veth", cells, summary, example_ratios(summary)))
    assert "LLC load misses" not in set(drawn.data["quantity"])
    assert "LLC load misses (read 0)" in note(drawn)


def test_zeros_of_context_switches_are_drawn_at_zero() -> None:
    drawn = draw("counters", example(counted=()))
    assert (drawn.data["value"] == 0).any()
    assert drawn.figure.axes[0].get_ylim()[0] == 0
    assert "linear next to 0" in note(drawn)


def test_counters_of_user_mode_say_so() -> None:
    cells = example_cells(**SMALL)
    cells["user_mode_only"] = True
    summary = example_summary(cells)
    drawn = draw("counters", tables_of("veth", cells, summary, example_ratios(summary)))
    assert "Counted in user mode only." in note(drawn)


@pytest.mark.parametrize(
    ("counted", "label", "said"),
    [
        (EVENTS, "CPU cycles [cycles/B]", ""),
        (("ref_cycles",), "CPU time [ns/B]", "Cycles were not counted on this host."),
        ((), "CPU time [ns/B]", "Cycles were not counted on this host."),
    ],
)
def test_cost_per_byte_is_in_cycles_where_counted_and_says_what_it_is_elsewhere(
    counted: tuple[str, ...], label: str, said: str
) -> None:
    drawn = draw("cost_per_byte", example(counted=counted))
    assert {axes.get_ylabel().replace("\n", " ") for axes in drawn.figure.axes} - {""} == {label}
    assert said in note(drawn)


def test_cost_per_byte_has_a_panel_of_both_sides_for_each_thread_count() -> None:
    drawn = draw("cost_per_byte", example(threads=[1, 8]))
    assert titles(drawn) == ["both, 1 thread", "both, 8 threads"]


def test_latency_has_rows_of_percentiles_and_only_sizes_of_all_thread_counts() -> None:
    def status(name: str, size: int, n: int, rep: int) -> str:
        return "skipped" if (size, n) == (12288, 8) else "measured"

    sizes = [256, 4096, 12288, 65536]
    added = example_cells(sizes=sizes, threads=[1, 8], status=status)
    cells = added[added["status"] == "measured"]
    summary = example_summary(cells)
    drawn = draw("latency", tables_of("veth", cells, summary, example_ratios(summary)))
    assert titles(drawn)[:3] == ["256 B", "4 KiB", "64 KiB"]
    assert set(drawn.data["quantity"]) == {"median", "p99"}
    assert set(drawn.data["msg_bytes"]) == {256, 4096, 65536}


def test_latency_of_a_table_without_sampled_sends_says_so() -> None:
    cells = example_cells(sizes=[4096], threads=[1, 2])
    cells = cells.drop(columns=["service_median_ns", "service_p99_ns"])
    summary = example_summary(cells)
    drawn = draw("latency", tables_of("veth", cells, summary, example_ratios(summary)))
    assert drawn.data.empty


def test_copied_share_shows_only_implementations_that_ask_for_zero_copy() -> None:
    drawn = draw("copied_share", example())
    assert set(drawn.data["implementation"]) == {"zero_copy"}
    assert set(drawn.data["value"]) == {100.0}
    assert draw("copied_share", example(implementations=["two_copy"])).data.empty


def heat_tables(changes: dict[str, object], threads: tuple[int, ...] = (1, 2)) -> Drawn:
    tables = example(sizes=[256, 4096, 65536], threads=threads, implementations=["two_copy", "x"])
    ratios = tables.ratios.reset_index(drop=True)
    for column, values in changes.items():
        ratios[column] = values
    return draw("ratio_heatmap", tables_of("veth", tables.cells, tables.summary, ratios))


VERDICTS = [
    "faster", "slower", "no difference seen", "observed once", "not measured", "faster",
]  # fmt: skip
RATIOS = [1.25, 0.5, 1.01, 2.0, np.nan, 12.0]


@pytest.fixture
def heat() -> Drawn:
    return heat_tables(
        {"verdict": VERDICTS, "ratio": RATIOS, "n_pairs": [3, 3, 3, 1, 0, 3]},
    )


def test_heatmap_cells_hold_their_ratio_and_mark_their_verdict(heat: Drawn) -> None:
    assert sorted(cell_texts(heat.figure)) == sorted(
        ["1.25", "0.50", "(1.01)", "2.00*", "no baseline", "12"]
    )
    assert "Frame and (…): no difference seen" in note(heat)
    assert "*: observed once" in note(heat)


def test_maps_of_ways_with_other_sizes_share_their_columns() -> None:
    tables = example(
        sizes=[256, 4096, 65536], threads=(1, 2), implementations=["two_copy", "x", "y"]
    )
    less = tables.ratios[
        (tables.ratios["implementation"] != "y") | (tables.ratios["msg_bytes"] != 4096)
    ]
    drawn = draw("ratio_heatmap", tables_of("veth", tables.cells, tables.summary, less))
    places = [
        sorted({text.get_position()[0] for text in axes.texts})
        for axes in drawn.figure.axes
        if axes.texts
    ]
    assert places == [[0.5, 1.5, 2.5], [0.5, 2.5]]


def test_heatmap_hatches_what_was_not_measured(heat: Drawn) -> None:
    patches = heat.figure.axes[0].patches
    assert [bool(patch.get_hatch()) for patch in patches].count(True) == 1
    assert "Hatched: not measured." in note(heat)


def test_heatmap_only_frames_what_shows_no_difference(heat: Drawn) -> None:
    frames = [patch for patch in heat.figure.axes[0].patches if not patch.get_hatch()]
    assert len(frames) == 1
    assert frames[0].get_facecolor() == (1, 1, 1, 1)


def test_heatmap_colours_are_centred_on_one_and_logarithmic(heat: Drawn) -> None:
    low, high = heat.figure.axes[-1].get_xlim()
    assert low * high == pytest.approx(1)
    assert high == pytest.approx(12)
    assert heat.figure.axes[-1].get_xscale() == "log"


def test_heatmap_csv_has_ratio_interval_pairs_and_verdict(heat: Drawn) -> None:
    found = heat.data.set_index(["n_threads", "msg_bytes"])
    assert list(found["verdict"]) == [VERDICTS[place] for place in (0, 2, 4, 1, 3, 5)]
    np.testing.assert_array_equal(found["value"], [RATIOS[place] for place in (0, 2, 4, 1, 3, 5)])
    assert {"low", "high", "n", "state"} <= set(found.columns)


def test_heatmap_of_equal_implementations_is_not_stretched_to_full_colours() -> None:
    drawn = heat_tables({"ratio": 1.01, "verdict": "no difference seen"})
    assert drawn.figure.axes[-1].get_xlim()[1] == pytest.approx(1.25)


@pytest.mark.parametrize("threads", [(1,), (1, 2)])
@pytest.mark.parametrize("most", [1.1, 1.33, 2.2, 12.0])
def test_heatmap_has_room_for_the_words_of_its_scale(most: float, threads: tuple[int, ...]) -> None:
    figure = heat_tables({"ratio": most, "verdict": "faster"}, threads).figure
    figure.draw_without_rendering()
    words = [word for word in figure.axes[-1].get_xticklabels() if word.get_text()]
    ends = sorted((box.x0, box.x1) for box in (word.get_window_extent() for word in words))
    assert len(ends) >= 3
    assert all(first[1] < second[0] for first, second in pairwise(ends))


def test_heatmap_names_failed_and_skipped_cells() -> None:
    drawn = draw(
        "ratio_heatmap",
        example(
            status=lambda name, size, n, rep: (
                "failed" if (name, size, n) == ("one_copy", 256, 1)
                else "skipped" if (name, size, n) == ("zero_copy", 4096, 8) else "measured"
            )
        ),
    )  # fmt: skip
    assert {"failed", "skipped"} <= set(cell_texts(drawn.figure))


@pytest.mark.parametrize("names", [["two_copy"], ["one_copy", "zero_copy"]])
def test_heatmap_without_a_pair_says_what_it_takes(names: list[str]) -> None:
    drawn = draw("ratio_heatmap", example(implementations=names))
    assert drawn.data.empty
    assert "Nothing to compare on veth" in "".join(
        text.get_text() for text in drawn.figure.findobj(Text)
    )


def test_other_testbeds_are_not_drawn() -> None:
    cells = pd.concat(
        [example_cells(sizes=[256]), example_cells(sizes=[1024], testbed="loopback")],
        ignore_index=True,
    )
    summary = example_summary(cells)
    tables = tables_of("loopback", cells, summary, example_ratios(summary))
    assert set(draw("throughput", tables).data["msg_bytes"]) == {1024}


def wide_interval(high: float) -> Drawn:
    cells = example_cells(sizes=[256, 4096], threads=[1])
    summary = example_summary(cells)
    place = (summary["metric"] == "throughput_bits_per_s") & (summary["msg_bytes"] == 256)
    summary.loc[place, "high"] = high
    return draw("throughput", tables_of("veth", cells, summary, example_ratios(summary)))


@pytest.mark.parametrize("high", [1e18, np.inf])
def test_interval_over_decades_is_cut_and_the_note_says_so(high: float) -> None:
    drawn = wide_interval(high)
    most = drawn.data["value"].max()
    assert drawn.figure.axes[0].get_ylim()[1] < 6 * most
    assert "Carets at the edge: the interval runs beyond the axis." in note(drawn)
    axes = drawn.figure.axes[0]
    marks = [line for line in axes.lines if str(line.get_gid()).startswith("cut-")]
    assert [line.get_gid() for line in marks] == [f"cut-{name}-256" for name in IMPLEMENTATIONS]
    assert [line.get_ydata()[0] for line in marks] == pytest.approx([axes.get_ylim()[1]] * 3)
    assert (drawn.data["high"] == high * 1e-9).any(), "the CSV keeps the interval as it is"


def test_interval_within_the_panel_needs_no_such_note() -> None:
    assert "Carets" not in note(draw("throughput", example()))


def test_two_modes_are_both_marked_in_place_of_an_interval() -> None:
    cells = example_cells(**SMALL)
    summary = example_summary(cells)
    cell = (summary["metric"] == "throughput_bits_per_s") & (summary["msg_bytes"] == 4096)
    cell &= summary["implementation"] == "one_copy"
    summary.loc[cell, ["lower_mode", "upper_mode"]] = [[2e9, 9e9]]
    drawn = draw("throughput", tables_of("veth", cells, summary, example_ratios(summary)))
    (axes,) = [axes for axes in drawn.figure.axes if axes.get_visible()]
    (bar,) = [line for line in axes.lines if line.get_gid() == "modes-one_copy-4096"]
    assert list(bar.get_ydata()) == [2.0, 9.0]
    assert "Dotted bars" in note(drawn)
    row = drawn.data.set_index(["implementation", "msg_bytes"]).loc[("one_copy", 4096)]
    assert (row["lower_mode"], row["upper_mode"]) == (2.0, 9.0)
