"""The command ``answer``: which rows it tells, and what it says where there are none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from report.example import write_results
from synthetic import Run, Udp

from copycost.__main__ import main
from copycost.analysis.json_values import Facts
from copycost.errors import DataError
from copycost.report.decisions_command import answer_lines, read_facts

KIB = 1024
RUN = Run(
    msg_bytes=(4 * KIB, 64 * KIB), n_threads=(1, 2), noise=0.01,
    udp=Udp(msg_bytes=(16 * KIB,), working_sets=("hot",)),
)  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    write_results(RUN, folder)
    return folder / "facts.json"


@pytest.fixture
def facts(path: Path) -> Facts:
    found: Facts = json.loads(path.read_text())
    return found


def sizes_told(lines: list[str]) -> list[str]:
    """Return the sizes of the rows."""
    return [line.partition("  ")[0] for line in lines if " fastest " in line]


def test_a_size_that_was_measured_has_its_own_row(facts: Facts) -> None:
    lines = list(answer_lines(facts, 64 * KIB))
    # Over UDP the largest was 16 KiB.
    assert sizes_told(lines) == ["64 KiB", "16 KiB"]
    text = " ".join(lines)
    assert text.count("was not measured") == 1
    assert "64 KiB was not measured; next to it: 16 KiB." in text


def test_a_size_between_has_the_rows_around_it(facts: Facts) -> None:
    lines = list(answer_lines(facts, 5000))
    assert sizes_told(lines) == ["4 KiB", "64 KiB", "16 KiB"]
    assert "5000 B was not measured; next to it: 4 KiB and 64 KiB." in " ".join(lines)


def test_a_thread_count_has_its_own_rows(facts: Facts) -> None:
    lines = list(answer_lines(facts, 64 * KIB, 2))
    assert sizes_told(lines) == ["64 KiB"]
    assert "2 threads." in " ".join(lines)
    assert "Mean over" not in " ".join(lines)
    # Two sizes, of each the fastest and the cheapest.
    assert "Of 4 answers" in " ".join(lines)


def test_thread_counts_that_were_not_measured_are_said(facts: Facts) -> None:
    with pytest.raises(DataError, match=r"--threads 3: nothing .* but with 1 and 2 threads"):
        list(answer_lines(facts, None, 3))


def test_command_prints_the_rows(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["answer", "--size", "64KiB", "--threads", "1", "--facts", str(path)]) == 0
    out = capsys.readouterr().out
    assert "64 KiB    fastest  one_copy" in out
    assert "Measured on Model CPU" in out


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_gets_no_complaint(path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "copycost", "answer", "--facts", str(path)]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_results_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "facts.json"
    assert main(["answer", "--facts", str(missing)]) == 1
    err = capsys.readouterr().err
    assert err == f"copycost: {missing}: not found, so nothing was measured; ./run measures\n"


def test_nothing_measured_is_one_sentence(tmp_path: Path) -> None:
    write_results(Run(msg_bytes=(1024,), n_threads=(1,), failed=lambda *cell: True), tmp_path)
    with pytest.raises(DataError, match="no repetition gave a value; the report has the reasons"):
        read_facts(tmp_path / "facts.json")


@pytest.mark.parametrize(
    ("text", "said"), [("{", "makes it again from the records"), ("{}", "another version")]
)
def test_facts_that_cannot_be_read_are_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "facts.json"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        read_facts(path)
