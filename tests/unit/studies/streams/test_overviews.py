"""What the figures drawn from facts have to show."""

import copy
from pathlib import Path

import pytest
from report.example import write_results
from synthetic import Run, Udp
from unit.figures.tables_example import said

from copycost.analysis.columns import read_table
from copycost.figures import answer, ranking
from copycost.figures.tables import Drawn
from copycost.records import table as records
from copycost.records.files import read_json
from copycost.studies.memory import figures as memory_floor
from copycost.studies.round_trips import figures as round_trips
from copycost.studies.round_trips.table import CURVES

pytestmark = pytest.mark.slow

RUN = Run(msg_bytes=(4096, 65536, 1048576), n_threads=(1, 2), udp=Udp())


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    write_results(RUN, folder, whole=True)
    return folder


@pytest.fixture
def facts(results: Path) -> dict:
    return copy.deepcopy(read_json(results / "facts.json"))


def marks(drawn: Drawn, prefix: str) -> list[str]:
    """Return the ids of the drawn lines that begin with a prefix, in drawing order."""
    lines = [line for axes in drawn.figure.axes for line in axes.lines]
    return [str(line.get_gid()) for line in lines if str(line.get_gid()).startswith(prefix)]


def test_ranking_has_a_panel_per_size_with_the_cheapest_on_top(facts: dict) -> None:
    panels = ranking.draw(facts, "veth").figure.axes
    assert [axes.get_title(loc="left") for axes in panels] == ["4 KiB", "64 KiB", "1 MiB"]
    for axes, size in zip(panels, facts["conditions"]["veth"]["ranking"]["sizes"], strict=True):
        names = [row["implementation"] for row in size["rows"]]
        assert [label.get_text() for label in axes.get_yticklabels()] == names
        low, high = axes.get_ylim()
        assert low > high, "the first of the ranking has to be on top"
        drawn = [line for line in axes.lines if str(line.get_gid()).startswith("rank-")]
        medians = [row["median"] for row in size["rows"]]
        assert [line.get_xdata()[0] for line in drawn] == medians == sorted(medians)


def test_memory_floor_marks_the_caches(facts: dict) -> None:
    drawn = memory_floor.draw(facts)
    assert marks(drawn, "cache-") == ["cache-l1d_bytes", "cache-l2_bytes", "cache-llc_bytes"]
    assert list(drawn.data["value"]) == [p["ns_per_byte"] for p in facts["memory"]["points"]]
    facts["host"]["cpu"]["caches"] = {}
    assert marks(memory_floor.draw(facts), "cache-") == []


def test_round_trips_are_medians_over_repetitions_at_each_percentile(
    facts: dict, results: Path
) -> None:
    curves = records.read_table(results / "round_trip_curves.csv", CURVES)
    drawn = round_trips.draw(facts, curves)
    point = drawn.data.query("implementation == 'one_copy' and msg_bytes == 4096").iloc[3]
    same = curves.query("implementation == 'one_copy' and msg_bytes == 4096")
    same = same[same["quantile"] == point["quantile"]]["ns"]
    assert point["value"] == pytest.approx(same.median() * 1e-3)
    assert (point["low"], point["high"]) == (same.min() * 1e-3, same.max() * 1e-3)
    titles = [axes.get_title(loc="left") for axes in drawn.figure.axes]
    assert titles == ["64 B, 1 thread", "4 KiB, 1 thread", "64 KiB, 1 thread"]
    # a percentile that not every repetition reaches is left out
    most = curves["quantile"].max()
    lost = (curves["quantile"] == most) & (curves["rep"] == 2)
    table = round_trips.curve_table(curves[~lost])
    assert table["quantile"].max() < most
    assert set(table["n"]) == {3}


def test_answer_has_a_panel_per_condition_with_what_was_compared(
    facts: dict, results: Path
) -> None:
    ratios, summary = (read_table(results / f"{name}.csv") for name in ("ratios", "summary"))
    veth = {"value": 1.0, "low": 0.97, "high": 1.02, "once": False}
    facts["control"] = {"conditions": [{"slug": "veth", "throughput": veth}]}
    drawn = answer.draw(facts, ratios, summary)
    assert len(drawn.figure.axes) == len(facts["measured_conditions"]) == 3
    assert set(drawn.data["n_threads"]) == {1}
    assert set(drawn.data["implementation"]) == {"one_copy", "zero_copy"}
    assert [len(axes.patches) for axes in drawn.figure.axes] == [1, 0, 0]
    assert "Band: two_copy against itself" in said(drawn)
    alone = answer.draw(facts, ratios[ratios["baseline"] != "two_copy"], summary)
    assert "Nothing to compare" in said(alone)
