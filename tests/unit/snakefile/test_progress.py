"""How far a run is, and how long the rest takes."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from copycost.snakefile import progress, terminal
from copycost.snakefile.progress import Counter, Kind, Progress

FAILED = "veth a: FAILED, it would not"


@pytest.fixture
def counter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counter:
    monkeypatch.setenv(progress.VARIABLE, "")  # so that what `begin` sets is taken away again
    monkeypatch.delenv(terminal.VARIABLE, raising=False)
    return Counter(tmp_path / "logs" / "progress.json")


def a_run(repetitions: Mapping[str, Kind], *, ahead_s: float = 0.0, **others: Kind) -> Progress:
    for other in others.values():
        other.measures = False
    return Progress({**repetitions, **others}, ahead_s, started_s=100.0)


def tell(line: str = "a repetition") -> str:
    return progress.count_in(line)


def test_each_repetition_is_counted_once(counter: Counter) -> None:
    now = a_run({"streams": Kind(12, 1.3)})
    now.begin("streams", 100.0, measures=True)
    progress.begin(counter.path, now)
    lines = [tell() for _ in range(12)]
    assert lines[0].startswith("[ 1/12] a repetition, 11 left, about ")
    assert lines[-1] == "[12/12] a repetition, 0 left"


def test_behind_the_last_repetition_the_rest_is_still_to_come(counter: Counter) -> None:
    now = a_run({"streams": Kind(1, 1.3)}, render_report=Kind(1, 20.0))
    now.begin("streams", 100.0, measures=True)
    progress.begin(counter.path, now)
    assert tell() == "[1/1] a repetition, 0 left, about 20 s"


@pytest.mark.parametrize("counter_path", ["", "/nowhere/gone.json"])
def test_a_result_is_told_where_nobody_counts_or_the_counter_was_lost(
    counter_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(progress.VARIABLE, counter_path)
    assert tell() == "a repetition"


def test_on_a_live_line_only_what_was_not_measured_stays(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress.begin(counter.path, a_run({"streams": Kind(2, 1.3)}))
    monkeypatch.setenv(terminal.VARIABLE, "yes")
    assert tell() == ""
    assert tell(FAILED).endswith(FAILED)
    now = counter.read()
    assert now is not None
    assert now.said == FAILED


def test_each_kind_goes_on_at_its_own_pace() -> None:
    now = a_run({"hot": Kind(100, 0.4), "cold": Kind(10, 0.4)})
    for end_s in (106.0, 112.0, 118.0):  # cold ones take 6 s
        now.begin("cold", end_s - 6.0, measures=True)
        now.end_repetition(end_s)
    assert now.kinds["hot"].left_s == pytest.approx(40.0)
    assert now.kinds["cold"].left_s == pytest.approx(7 * (3 * 0.4 + 18.0) / 6)


def test_what_lies_between_two_repetitions_counts_but_not_what_another_job_takes() -> None:
    now = a_run({"hot": Kind(3, 1.0)}, draw_profile=Kind(1, 5.0))
    now.begin("hot", 100.0, measures=True)
    now.end_repetition(101.0)
    now.begin("hot", 101.5, measures=True)
    now.end_repetition(102.5)
    assert now.kinds["hot"].took_s == pytest.approx(2.5)
    now.begin("draw_profile", 102.5, measures=False)
    now.begin("hot", 109.5, measures=True)
    now.end_repetition(110.5)
    assert now.kinds["hot"].took_s == pytest.approx(3.5)
    assert now.kinds["draw_profile"].took_s == pytest.approx(7.0)


def test_the_time_left_goes_down_while_a_job_is_at_work() -> None:
    now = a_run({}, plot_figure=Kind(1, 4.0), render_report=Kind(1, 6.0))
    assert now.left_s(100.0) == pytest.approx(10.0)
    now.begin("plot_figure", 100.0, measures=False)
    assert now.left_s(103.0) == pytest.approx(7.0)
    assert now.left_s(190.0) == pytest.approx(6.0)  # the next one is still to come


def test_what_passes_choose_takes_the_place_of_what_was_expected(counter: Counter) -> None:
    progress.begin(counter.path, a_run({"hot": Kind(1, 1.0, done=1, took_s=1.0)}, ahead_s=60.0))
    progress.extend({"hot": Kind(20, 1.0), "cold": Kind(5, 2.0)})
    now = counter.read()
    assert now is not None
    assert now.total == 26
    assert now.ahead_s == pytest.approx(30.0)
    progress.extend({})  # no pass behind one that chose nothing chooses anything
    now = counter.read()
    assert now is not None
    assert now.ahead_s == 0.0
