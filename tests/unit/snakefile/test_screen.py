"""The line on how far a run is."""

import os
import pty
import re
import sys
import termios
from pathlib import Path

import pytest

from copycost.snakefile import progress, screen, terminal
from copycost.snakefile.progress import Progress

SAID = "veth one_copy 64 KiB x 1 thread, both ends on one CPU, repetition 2: 75 Gbit/s"


def half_way() -> Progress:
    return Progress({"streams on veth": 943}, {"streams on veth": 0.6}, 100.0, done=12, said=SAID)


def test_a_line_has_a_bar_the_count_the_time_left_and_the_last_result() -> None:
    line = screen.describe(half_way(), "", 100.0 + half_way().left_s(0.0))
    assert line.startswith("[######......] 12/943 ")
    assert re.search(r"\d+ (s|min) left  veth one_copy 64 KiB x 1 thread, both ends", line)
    assert "repetition" not in line


@pytest.mark.parametrize("columns", [10, 40, 80, 200])
def test_a_line_never_fills_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    primary, secondary = pty.openpty()
    termios.tcsetwinsize(secondary, (24, columns))
    with os.fdopen(secondary, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        terminal.show_line("x" * 500)
        text = os.read(primary, 4096).decode()
    os.close(primary)
    assert text.count("x") == max(columns, 20) - 1
    assert text.startswith("\r")
    assert text.endswith("\r")  # what others say next writes over it


def test_in_a_log_each_step_is_said_once_and_silence_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(progress.VARIABLE, "")
    monkeypatch.delenv(terminal.VARIABLE, raising=False)
    monkeypatch.setattr(screen, "_SILENCE_S", 0.0)
    progress.begin(tmp_path / "progress.json", half_way())
    shown = screen.Screen()
    for _ in range(2):
        shown.begin_job("plot_figure", {})
    shown._show()
    shown.begin_job("run_cell", {"study": "streams", "testbed": "veth"})
    shown._show()
    lines = capfd.readouterr().out.splitlines()
    assert lines == ["copycost: drawing the figures", "copycost: still drawing the figures, 1 s"]
    now = progress.read()
    assert now is not None
    assert now.at_work == "streams on veth"
