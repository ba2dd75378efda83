"""The whole way from a fresh checkout to the report, and what happens on the way."""

import itertools
import os
import re
import signal
import zipfile
from pathlib import Path

import pytest
from programs import until
from workflow.conftest import WholeRun
from workflow.support import TIMEOUT_S, Checkout, members_of

RESULTS = [
    "config.yaml",
    "host.json",
    "facts.json",
    "tables/cells.csv",
    "tables/cells.parquet",
    "tables/summary.csv",
    "tables/ratios.csv",
    "report/report.qmd",
    "report/report.html",
    "report/report.pdf",
]


def overlapping(checkouts: list[Checkout]) -> list[tuple[int, int]]:
    """Return the starts and ends of measurements that began before another was over."""
    spans = sorted(
        (record["start_ns"], record["end_ns"])
        for checkout in checkouts
        for record in checkout.records()
    )
    return [(end, start) for (_, end), (start, _) in itertools.pairwise(spans) if start < end]


def test_one_command_leads_to_the_report(whole_run: WholeRun) -> None:
    checkout = whole_run.checkout
    lines = whole_run.said.splitlines()
    assert "Warning" not in whole_run.said  # as pandas and others say to programmers

    assert re.fullmatch(
        r"copycost: measuring 8 repetitions, which takes about 6 s; all in all about \d+ s\.",
        lines[0],
    )
    results = [line for line in lines if line.startswith("[")]
    assert len(results) == 8
    for number, line in enumerate(results, start=1):
        assert re.fullmatch(
            rf"\[{number}/8\] loopback (one|two)_copy (4|16|32|64) KiB x 1 thread, repetition 1: "
            rf"\S+ Gbit/s(, \S+ (CPU ns|cycles)/B)?, {8 - number} left"
            r"(, about \d+ (s|min|h \d+ min))?",
            line,
        ), line
    steps = [line for line in lines[1:-2] if line not in results and ": still " not in line]
    # neither needs the other, so either may come first
    assert set(steps[:2]) == {"copycost: building the programs", "copycost: describing this host"}
    at = steps.index("copycost: 8 of 8 repetitions measured.")
    assert steps[at - 2 : at] == [
        "copycost: writing the report",
        "copycost: typesetting the report",
    ]
    answer = steps[at + 1 :]
    assert answer[0].startswith("loopback. Fastest: ")
    assert "Open: " in " ".join(answer)
    assert len(answer) <= 15
    place = "results/report/report"
    assert lines[-1].startswith(
        f"copycost: the report is {place}.html and {place}.pdf, typeset by "
    )

    for name in RESULTS:
        assert (checkout.path / "results" / name).stat().st_size > 0, name
    page = (checkout.path / "results/report/report.html").read_text(encoding="utf-8")
    assert 'id="sec-published"' in page, "it stands beside published ones"
    assert "Intel Core i5-10500" in page
    assert len(checkout.records()) == 8
    assert overlapping([checkout]) == []
    assert list(checkout.path.rglob("results/**/*.new")) == []


@pytest.mark.slow
def test_snakemake_makes_its_report_of_a_finished_run(finished: Checkout) -> None:
    finished.snakemake("--report", "report.zip")
    with zipfile.ZipFile(finished.path / "report.zip") as archive:
        names = {name.rpartition("/")[2] for name in archive.namelist()}
        pages = [name for name in archive.namelist() if name.endswith("/report.html")]
        page = archive.read(min(pages, key=lambda name: name.count("/")))
    assert {"report.html", "report.pdf", "cells.csv", "summary.csv", "ratios.csv"} <= names
    assert {"quality.csv", "speed_and_cost.svg"} <= names
    assert b"results/tables/columns.csv" in page, "captions are part of it"
    assert finished.planned() == {}, "making it changes nothing"


def test_a_dry_run_says_what_a_run_would_do_with_values_of_the_command_line(
    checkout: Checkout,
) -> None:
    done = checkout.dry()
    assert re.search(
        r"^copycost: a run would measure 8 repetitions, which takes about 6 s, and do \d+ other "
        r"jobs \(programs, tables, figures, report\): all in all about \d+ s\.$",
        done.stdout.splitlines()[0],
    )
    assert not (checkout.path / "results").exists()
    assert checkout.planned("results/bin/sender_null") == {"build_sender": 1}
    cells = "streams={implementations: [zero_copy]}", "measure={tcp_nodelay: on}"
    planned = checkout.planned("tables", "--config", *cells)
    assert planned["run_cell"] == 4
    assert planned.keys().isdisjoint({"plot_figure", "render_report"}), "a target goes no further"


def test_every_configuration_mistake_is_one_line(checkout: Checkout) -> None:
    checkout.configure("measure", duration_s=-1, duraton_s=3)
    checkout.configure("streams", n_threads=[1, 1000])
    done = checkout.snakemake("--cores", "1", check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    said = [re.sub(r"^(config\.yaml): line \d+", r"\1", line) for line in done.stderr.splitlines()]
    assert said[1:] == [  # the first line names the profile
        "config.yaml: measure.duration_s: got -1, must be a number of seconds from 0.001 to 3600",
        "config.yaml: measure.duraton_s: unknown key; did you mean duration_s?",
        "config.yaml: streams.n_threads: got 1000, must be a whole number of threads from 1 to 256",
    ]


@pytest.fixture
def few(built: Checkout) -> Checkout:
    """A checkout that is ready to measure four repetitions."""
    built.configure("streams", msg_bytes=["4KiB", "64KiB"])
    return built


def test_a_run_keeps_others_out_and_leaves_nothing_behind_when_it_is_killed(few: Checkout) -> None:
    few.configure("measure", duration_s=0.5)
    with few.started(few.command("--cores", "1", "measure")) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("[2/4]"):
                break
        until(lambda: any("bin/receiver" in name for name in members_of(process.pid)), TIMEOUT_S)
        os.killpg(process.pid, signal.SIGSTOP)  # it shall not be over before a second one looks
        damaged = next((few.path / "results/raw").rglob("rep=*.json"))
        whole = damaged.read_text()
        damaged.write_text("{")
        second = few.snakemake("--cores", "1", "measure", check=False)
        assert damaged.read_text() == "{", "it sets nothing aside for the first one"
        assert second.returncode == 1
        assert f"another run is at work in this folder (process {process.pid})" in second.stderr
        assert "Traceback" not in second.stderr
        damaged.write_text(whole)
        process.kill()  # no lock is left behind, so the next run just goes on
        os.killpg(process.pid, signal.SIGCONT)
        assert "Traceback" not in process.stdout.read()
        process.wait(TIMEOUT_S)
        until(lambda: not members_of(process.pid), TIMEOUT_S)
    raw = few.path / "results" / "raw"
    assert all(path.suffix == ".json" for path in raw.rglob("*") if path.is_file())
    assert len(few.records()) >= 2
    assert_goes_on(few)


def assert_goes_on(few: Checkout) -> None:
    """Check that the same command measures what is not there, and nothing else."""
    kept = few.records()
    done = few.snakemake("--cores", "1", "measure")
    assert f"measuring {4 - len(kept)} repetitions" in done.stdout
    records = few.records()
    assert len(records) == 4
    assert all(record in records for record in kept)


def test_a_run_whose_reader_leaves_ends_and_keeps_its_records(few: Checkout) -> None:
    with few.started(few.command("--cores", "1", "measure")) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(TIMEOUT_S) != 0
        until(lambda: not members_of(process.pid), TIMEOUT_S)
    assert_goes_on(few)


def test_two_runs_on_one_host_take_turns(few: Checkout, tmp_path: Path) -> None:
    other = few.copy(tmp_path / "other")
    with few.started(few.command("--cores", "2", "measure")) as first:
        with other.started(other.command("--cores", "2", "measure")) as second:
            said = [process.communicate(timeout=TIMEOUT_S)[0] for process in (first, second)]
        assert (first.returncode, second.returncode) == (0, 0), said
    assert len(few.records()) == len(other.records()) == 4
    assert overlapping([few, other]) == []
