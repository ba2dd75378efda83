"""A run amid trouble ends with its report, and the soak tells one that does not."""

import csv
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from workflow.support import MICRO

from tools.soak.__main__ import main
from tools.soak.troubles import TROUBLES

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _mounts() -> None:
    try:
        subprocess.run(["unshare", "--mount", "--map-root-user", "true"], check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this host allows no mount namespace")


def soaked(tmp_path: Path, config: Mapping[str, Any], *troubles: str) -> tuple[int, dict[str, str]]:
    """Return the exit code of a soak of one run, and the row of it."""
    path, out = tmp_path / "config.yaml", tmp_path / "out"
    path.write_text(yaml.safe_dump(dict(config)))
    words = ["--runs", "1", "--configfile", str(path), "--out", str(out), "--troubles", *troubles]
    code = main(words)
    (row,) = csv.DictReader((out / "soak.csv").read_text().splitlines())
    return code, row


def test_a_run_amid_trouble_ends_with_its_report(tmp_path: Path) -> None:
    twice = {
        **MICRO,
        "streams": {**MICRO["streams"], "msg_bytes": ["4KiB", "64KiB"]},
        "measure": {**MICRO["measure"], "repetitions": 2},
    }
    code, row = soaked(tmp_path, twice, *(name for name in TROUBLES if name != "memory"))
    assert (code, row["report"], row["broken"]) == (0, "True", ""), row
    n_lost = 8 - int(row["measured"]) - int(row["failed"])  # one failure may stand for two
    assert 0 <= n_lost <= int(row["damaged"])
    assert "hogs" in row["troubles"]
    assert "stop of" in row["troubles"]


def test_a_run_without_a_report_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, row = soaked(tmp_path, {"measure": {"repetitions": 0}})
    assert code == 1
    assert row["broken"] == "exit code 1; no whole report; nothing measured"
    assert row["broken"] in capsys.readouterr().out
