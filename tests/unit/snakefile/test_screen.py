"""How far a run is, how long the rest takes, and what is said of that."""

import os
import pty
import re
import sys
import termios

import pytest

from copycost.snakefile import screen, status_line
from copycost.snakefile.progress import Progress

SAID = "veth one_copy 64 KiB x 1 thread, both ends on one CPU, repetition 2: 75 Gbit/s"
FAILED = "veth a: FAILED, it would not"


def half_way() -> Progress:
    return Progress({"streams on veth": 943}, {"streams on veth": 0.6}, 100.0, done=12, said=SAID)


@pytest.fixture
def shown() -> screen.Screen:
    shown = screen.Screen()
    shown.how_far = half_way()
    return shown


def test_a_line_has_a_bar_the_count_the_time_left_and_the_last_result() -> None:
    line = half_way().line("", 100.0 + half_way().left_s(0.0))
    assert line.startswith("[######......] 12/943 ")
    assert re.search(r"\d+ (s|min) left  veth one_copy 64 KiB x 1 thread, both ends", line)
    assert "repetition" not in line


@pytest.mark.parametrize("columns", [10, 40, 200])
def test_a_line_never_fills_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    primary, secondary = pty.openpty()
    termios.tcsetwinsize(secondary, (24, columns))
    with os.fdopen(secondary, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        status_line.show_line("x" * 500)
        text = os.read(primary, 4096).decode()
    os.close(primary)
    assert text.count("x") == max(columns, 20) - 1
    assert text.startswith("\r")
    assert text.endswith("\r")  # what others say next writes over it


def test_in_a_log_each_step_is_said_once_and_silence_is_broken(
    shown: screen.Screen, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(screen, "_SILENCE_S", 0.0)
    for _ in range(2):
        shown.begin_job("plot_figure", {})
    shown._show()
    shown.begin_job("run_cell", {"study": "streams", "testbed": "veth"})
    shown._show()
    lines = capfd.readouterr().out.splitlines()
    assert lines == ["copycost: drawing the figures", "copycost: still drawing the figures, 1 s"]


@pytest.mark.parametrize("is_live", [True, False])
def test_on_a_live_line_only_what_was_not_measured_stays(
    shown: screen.Screen,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    *,
    is_live: bool,
) -> None:
    monkeypatch.setattr(status_line, "is_live", is_live)
    for news in ({"result": SAID}, {"result": FAILED}, {"line": "more"}):
        shown.hear(news)
    said = capfd.readouterr().out
    assert f"[ 14/943] {FAILED}" in said
    assert said.endswith("more\n")
    assert (SAID not in said) is is_live


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
