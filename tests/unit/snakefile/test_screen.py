"""What is said on how far a run is, on a terminal and in a log."""

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
