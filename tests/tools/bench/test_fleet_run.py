from pathlib import Path

import pytest
from unit.compare.hosts.test_report import real

from tools.bench import fleet_run

pytestmark = pytest.mark.slow


def test_tables_and_report_of_a_fleet_are_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real(tmp_path)
    monkeypatch.setattr(fleet_run, "N_HOSTS", 2)
    rows = list(fleet_run.fleet_rows(tmp_path / "real"))
    steps = [row.name.partition(" of ")[0] for row in rows]
    assert steps == ["tables", "tables", "report", "report"]
    assert all(row.value is not None and row.value > 0 for row in rows)
    assert "96 records of 2 simulated hosts" in rows[0].name
