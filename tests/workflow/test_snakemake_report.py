"""Snakemake's own report of a finished run."""

import zipfile

import pytest
from workflow.support import Checkout


@pytest.mark.slow
def test_snakemake_makes_its_report_of_a_finished_run(finished: Checkout) -> None:
    finished.snakemake("--report", "report.zip")
    with zipfile.ZipFile(finished.path / "report.zip") as archive:
        names = {name.rpartition("/")[2] for name in archive.namelist()}
        pages = [name for name in archive.namelist() if name.endswith("/report.html")]
        page = archive.read(min(pages, key=lambda name: name.count("/")))
    assert {"report.html", "report.pdf", "cells.csv", "summary.csv", "ratios.csv"} <= names
    assert {"quality.csv", "throughput.svg"} <= names
    assert b"results/tables/columns.csv" in page, "captions are part of it"
    assert finished.planned() == {}, "making it changes nothing"
