"""A step that only a part of the report needs ends no run."""

import errno
import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from copycost.records import files
from copycost.report.assets import shown_figures
from copycost.snakefile.placeholder_outputs import left_out, made_or_left_out, remove


@pytest.fixture(autouse=True)
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


LOG = "results/logs/draw.log"
OUTPUTS = ["results/figures/veth/cost.svg", "results/figures/veth/cost.csv"]


def make(log: str, given: list[str], outputs: list[str], step: Callable[[], object]) -> None:
    with made_or_left_out(log, given, outputs):
        step()


def broken() -> None:
    raise KeyError("cycles")


def test_a_figure_that_cannot_be_drawn_says_so_and_is_drawn_by_the_next_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    make(LOG, [], OUTPUTS, broken)
    assert "cost: KeyError: 'cycles'; the report goes on without" in capsys.readouterr().err
    svg = Path(OUTPUTS[0])
    assert "could not be drawn" in svg.read_text()
    assert shown_figures([svg]) == {"veth": ["cost"]}
    assert left_out().keys() == set(OUTPUTS)
    remove()
    assert not svg.exists()
    assert left_out() == {}


def test_what_follows_from_a_part_that_is_left_out_has_its_reason_and_adds_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    facts = "results/budget/facts.json"
    make(LOG, [], [facts], broken)
    said = capsys.readouterr().err

    def draw() -> None:
        raise AssertionError("nothing to draw")

    make("results/logs/other.log", [facts], OUTPUTS, draw)
    assert capsys.readouterr().err == ""
    assert json.loads(Path(facts).read_text())["left_out"] in said
    assert "KeyError" in Path(OUTPUTS[0]).read_text()


def test_a_part_that_is_made_again_is_no_longer_left_out() -> None:
    make(LOG, [], OUTPUTS, broken)
    make(LOG, [], OUTPUTS, lambda: None)
    assert left_out() == {}


def test_a_part_that_a_full_disk_stopped_is_not_left_out() -> None:
    with pytest.raises(OSError, match="no room"), made_or_left_out(LOG, [], OUTPUTS):
        raise OSError(errno.ENOSPC, "no room")
    assert left_out() == {}


def test_what_a_part_needs_is_made_again_once(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = Path("results/facts.json")
    facts.parent.mkdir()
    monkeypatch.setattr(files, "unread", [])
    for is_left_out in (False, True):
        facts.write_text("{")
        with nullcontext() if is_left_out else pytest.raises(ValueError, match="Expecting"):
            make(LOG, [], OUTPUTS, lambda: files.read_json(facts))
        assert bool(left_out()) == is_left_out
        files.set_aside(facts, files.UNREAD)
