"""How far a run is, and how long the rest takes."""

from pathlib import Path

import pytest

from copycost.snakefile import progress, terminal
from copycost.snakefile.progress import Progress

FAILED = "veth a: FAILED, it would not"
HOT = "streams on veth"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(progress.VARIABLE, "")  # so that what `begin` sets is taken away again
    monkeypatch.delenv(terminal.VARIABLE, raising=False)
    return tmp_path / "logs" / "progress.json"


def a_run(ahead_s: float = 0.0, **jobs: tuple[int, float]) -> Progress:
    """Return a run of jobs, so many each of which takes so long [s]; `hot` are repetitions."""
    named = {HOT if kind == "hot" else kind: of for kind, of in jobs.items()}
    counts, each_s = ({kind: of[place] for kind, of in named.items()} for place in (0, 1))
    return Progress(counts, each_s, 100.0, ahead_s)  # type: ignore[arg-type]


def tell(line: str = "a repetition") -> str:
    return progress.count_in(line)


def read() -> Progress:
    now = progress.read()
    assert now is not None
    return now


def test_each_repetition_is_counted_once(path: Path) -> None:
    now = a_run(hot=(12, 1.3), render_report=(1, 20.0))
    now.begin(HOT, 100.0)
    progress.begin(path, now)
    lines = [tell() for _ in range(12)]
    assert lines[0].startswith("[ 1/12] a repetition, 11 left, about ")
    assert lines[-1].startswith("[12/12] a repetition, 0 left, about ")  # the report is to come


@pytest.mark.parametrize("counter_path", ["", "/nowhere/gone.json"])
def test_a_result_is_told_where_nobody_counts_or_the_counter_was_lost(
    counter_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(progress.VARIABLE, counter_path)
    assert tell() == "a repetition"


def test_on_a_live_line_only_what_was_not_measured_stays(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress.begin(path, a_run(hot=(2, 1.3)))
    monkeypatch.setenv(terminal.VARIABLE, "yes")
    assert tell() == ""
    assert tell(FAILED).endswith(FAILED)
    assert read().said == FAILED


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


def test_what_passes_choose_takes_the_place_of_what_was_expected(path: Path) -> None:
    progress.begin(path, a_run(hot=(1, 1.0), ahead_s=60.0))
    progress.extend({HOT: 20, "streams on sink": 5}, each_s=2.0)
    now = read()
    assert (now.total, now.ahead_s) == (26, pytest.approx(30.0))
    progress.extend({}, each_s=2.0)  # no pass behind one that chose nothing chooses anything
    assert read().ahead_s == 0.0
