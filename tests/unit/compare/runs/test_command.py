"""The whole command: folders in, a report, lines and an exit code out."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from report.checks import check_pdf
from unit.compare.runs.made import Made, slower_by, write_results

from copycost.__main__ import main
from copycost.compare.runs.facts import CELL_COLUMNS

pytestmark = pytest.mark.slow

LATER = 100_000


def test_a_slower_run_becomes_a_report_and_fails_the_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = write_results(tmp_path / "before")
    slower = Made(seed=2, start_s=LATER, factor=slower_by(0.5), host={"kernel_release": "6.19.0"})
    b = write_results(tmp_path / "after", slower)
    out = tmp_path / "out"
    arguments = ["compare", str(a), str(b), "--output", str(out), "--fail-if", "slower:5%"]
    assert main(arguments) == 4
    said = capsys.readouterr().out
    assert "throughput, B / A: 0.5" in said
    assert "kernel_release" in said
    assert "%: shown over all cells together and in 11 cells" in " ".join(said.split())
    paths = (str(a), str(b), str(out))
    assert max(len(line) for line in said.splitlines() if not any(p in line for p in paths)) <= 80
    facts = json.loads((out / "facts.json").read_text(encoding="utf-8"))
    assert facts["gates"][0]["fails"]
    cells = pd.read_csv(out / "cells.csv")
    assert tuple(cells.columns) == CELL_COLUMNS
    assert set(cells[cells["quantity"] == "throughput"]["verdict"]) == {"slower"}
    html = " ".join((out / "report.html").read_text(encoding="utf-8").split())
    verdict = html[html.index('id="sec-verdict"') : html.index('id="sec-sides"')]
    assert ">slower<" in verdict
    assert main([*arguments, "--json"]) == 4
    assert json.loads(capsys.readouterr().out) == facts
    assert "6.19.0" in html
    check_pdf(out / "report.pdf")


def test_several_equal_runs_pass_and_tell_their_spread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [
        str(write_results(tmp_path / f"run{k}", Made(seed=k, start_s=k * LATER)))
        for k in range(1, 7)
    ]
    out = tmp_path / "out"
    arguments = ["compare", *runs[::2], "--with", *runs[1::2], "--output", str(out)]
    assert main([*arguments, "--formats", "html", "--fail-if", "slower:20%"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "three runs of A and three runs of B" in said
    assert re.search(r"runs of a side differ by: \S+ % in a cell, \S+ % over all", said)
    assert "slower by more than 20 %: not shown;" in said
    assert not (out / "report.pdf").exists()


def test_silence_is_no_success_where_single_runs_cannot_tell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    disturbed = Made(seed=2, start_s=LATER, changes={"warnings": lambda *cell: "steal"})
    runs = [write_results(tmp_path / "a"), write_results(tmp_path / "b", disturbed)]
    arguments = ["compare", *map(str, runs), "--output", str(tmp_path / "out"), "--formats", "html"]
    for bound, code in (("1%", 5), ("60%", 0)):
        assert main([*arguments, "--fail-if", f"slower:{bound}"]) == code
        said = " ".join(capsys.readouterr().out.split())
        assert ("cannot tell; the smallest change" in said) == bool(code)
        assert " 0 of 100 repetitions disturbed" in said
        assert " 55 of 100 repetitions disturbed" in said
