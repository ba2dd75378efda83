"""Tables and Snakemake's own report of a finished run."""

import zipfile

import pytest
from documented import assert_documented
from workflow.conftest import WholeRun
from workflow.support import Checkout

from copycost.records.table import read_table
from copycost.studies.data_dictionary import columns_csv

pytestmark = pytest.mark.slow

RUN = ("--cores", "1", "tables")
TABLE = "results/tables/cells.csv"


@pytest.fixture
def checkout(finished: Checkout) -> Checkout:
    return finished


def test_the_data_dictionary_has_exactly_the_columns_of_a_run(whole_run: WholeRun) -> None:
    results = whole_run.checkout.path / "results"
    assert_documented(results, "cells.csv", "summary.csv", "ratios.csv", "quality.csv")
    assert (results / "tables/columns.csv").read_text(encoding="utf-8") == columns_csv()


def test_a_foreign_file_among_the_records_is_told_and_ignored(checkout: Checkout) -> None:
    (checkout.path / "results/raw/streams/notes.txt").write_text("mine")
    (checkout.path / TABLE).unlink()
    done = checkout.snakemake(*RUN)
    assert "notes.txt: not a record of copycost; ignored" in done.stdout + done.stderr
    assert len(read_table(checkout.path / TABLE)) == 8


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
