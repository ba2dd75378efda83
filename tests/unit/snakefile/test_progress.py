"""How far a run is, and how long the rest takes."""

import pytest

from copycost.snakefile.progress import Progress

HOT = "streams on veth"


def a_run(ahead_s: float = 0.0, **jobs: tuple[int, float]) -> Progress:
    """Return a run of jobs, so many each of which takes so long [s]; `hot` are repetitions."""
    named = {HOT if kind == "hot" else kind: of for kind, of in jobs.items()}
    counts, each_s = ({kind: of[place] for kind, of in named.items()} for place in (0, 1))
    return Progress(counts, each_s, 100.0, ahead_s)  # type: ignore[arg-type]


def test_each_repetition_is_counted_once() -> None:
    now = a_run(hot=(12, 1.0), render_report=(1, 20.0))
    now.begin(HOT, 100.0)
    told = [now.end_repetition(101.0 + number, "a repetition") for number in range(12)]
    assert told[0] == ("[ 1/12]", "11 left, about 31 s")
    assert told[-1] == ("[12/12]", "0 left, about 20 s")  # the report is to come


def test_the_rest_goes_on_at_the_pace_so_far() -> None:
    now = a_run(hot=(100, 1.0))
    assert now.left_s(100.0) == pytest.approx(100.0)
    now.begin(HOT, 100.0)
    for number in range(50):  # each takes twice as long
        now.end_repetition(102.0 + 2 * number, "")
    assert now.left_s(200.0) == pytest.approx(50 * (5 + 100) / (5 + 50))


def test_the_time_left_goes_down_while_a_job_is_at_work() -> None:
    now = a_run(plot_figure=(1, 4.0), render_report=(1, 6.0))
    assert now.left_s(100.0) == pytest.approx(10.0)
    now.begin("plot_figure", 100.0)
    assert now.left_s(103.0) == pytest.approx(7.0)
    assert now.left_s(190.0) == pytest.approx(6.0)  # the next one is still to come


def test_what_passes_choose_takes_the_place_of_what_was_expected() -> None:
    now = a_run(hot=(1, 1.0), ahead_s=60.0)
    now.extend({HOT: 20, "streams on sink": 5}, each_s=2.0)
    assert (now.total, now.ahead_s) == (26, pytest.approx(30.0))
    now.extend({}, each_s=2.0)  # no pass behind one that chose nothing chooses anything
    assert now.ahead_s == 0.0
