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


@pytest.mark.parametrize(
    ("n_bytes", "threads", "rows", "said"),
    [  # over UDP the largest was 16 KiB
        (64 * KIB, None, ["64 KiB", "16 KiB"], "64 KiB was not measured; next to it: 16 KiB."),
        (5000, None, ["4 KiB", "64 KiB", "16 KiB"],
         "5000 B was not measured; next to it: 4 KiB and 64"),
        # two sizes, of each the fastest and the cheapest
        (64 * KIB, 2, ["64 KiB"], "Of 4 answers"),
    ],
)  # fmt: skip
def test_a_size_and_a_thread_count_have_their_own_rows_or_those_around_them(
    facts: Facts, n_bytes: int, threads: int | None, rows: list[str], said: str
) -> None:
    lines = list(answer_lines(facts, n_bytes, threads))
    assert [line.partition("  ")[0] for line in lines if " fastest " in line] == rows
    text = " ".join(lines)
    assert said in text
    assert threads is None or ("2 threads." in text and "Mean over" not in text)
    with pytest.raises(DataError, match=r"--threads 3: nothing .* but with 1 and 2 threads"):
        list(answer_lines(facts, None, 3))


def test_command_prints_the_rows(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["answer", "--size", "64KiB", "--threads", "1", "--facts", str(path)]) == 0
    out = capsys.readouterr().out
    assert "64 KiB    fastest  one_copy" in out
    told = " ".join(out.split())
    assert "Measured on Model CPU, 2 CPUs, a virtual machine, Linux 6.18.0, 1970-01-01." in told
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_gets_no_complaint(path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "copycost", "answer", "--facts", str(path)]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "not found, so nothing was measured; ./run measures"),
        ("{", "makes it again from the records"),
        ("{}", "another version"),
    ],
)
def test_facts_that_cannot_be_read_are_one_sentence(
    tmp_path: Path, text: str | None, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "facts.json"
    if text is not None:
        path.write_text(text)
    assert main(["answer", "--facts", str(path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"copycost: {path}: ")
    assert said in line


def test_nothing_measured_is_one_sentence(tmp_path: Path) -> None:
    write_results(Run(msg_bytes=(1024,), n_threads=(1,), failed=lambda *cell: True), tmp_path)
    with pytest.raises(DataError, match="no repetition gave a value; the report has the reasons"):
        read_facts(tmp_path / "facts.json")
