"""`./run report host=NAME`: the ordinary report on a host of a fleet, and nothing measured."""

import json
import subprocess
import sys

import pandas as pd
import pytest
from unit.compare.hosts.made import real
from workflow.support import Checkout, new_checkout

from copycost.compare.hosts.merging import merge

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = new_checkout(tmp_path_factory.mktemp("fleet") / "checkout")
    merge(real(made.path.parent), made.path / "results/fleet")
    return made


def report(checkout: Checkout, *words: str) -> "subprocess.CompletedProcess[str]":
    launch = ["-SP", "workflow/copycost/cli/launch.py", "copycost.cli.host_report"]
    return checkout.call([sys.executable, *launch, *words], check=False)


def test_a_host_has_its_ordinary_report_in_a_folder_of_its_own(checkout: Checkout) -> None:
    before = sorted(path.name for path in (checkout.path / "results").iterdir())
    done = report(checkout, "lab")
    assert done.returncode == 0, done.stdout + done.stderr
    place = checkout.path / "results/fleet/host=lab/run/results"
    said = "results/fleet/host=lab/run/results/report/report.html and"
    assert f"the report is {said}" in done.stdout + done.stderr
    assert (place / "report/report.pdf").is_file()
    assert "What does each copy cost?" in (place / "report/report.html").read_text()
    cells = pd.read_csv(place / "tables/cells.csv")
    raw = checkout.path / "results/fleet/host=lab/raw"
    assert len(cells) == len(list(raw.glob("streams/**/rep=*.json")))
    trips = pd.read_csv(place / "tables/round_trips.csv")
    assert len(trips) == len(list(raw.glob("round_trips/**/rep=*.json"))) > 0
    assert not list((place / "logs").glob("run_cell*")), "nothing is measured"
    assert not (place / "bin").exists(), "nor built"
    host = json.loads((checkout.path / "results/fleet/host=lab/host.json").read_text())
    assert json.loads((place / "host.json").read_text()) == host
    assert sorted(path.name for path in (checkout.path / "results").iterdir()) == before

    again = report(checkout, "lab")
    assert "nothing to be done" in again.stdout + again.stderr


def test_a_host_that_there_is_not_is_said(checkout: Checkout) -> None:
    done = report(checkout, "bal")
    assert done.returncode == 1
    assert "host=bal: results/fleet has no such host; there are lab" in done.stderr
