"""A run on a disk that is full, or fills up meanwhile."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from copycost.cli import environment, measuring, system
from copycost.cli.say import RunError


@pytest.mark.parametrize(("before", "calls"), [(0, 0), (9 << 20, 1)])
def test_a_full_disk_is_named_before_anything_runs_and_where_a_run_fails(
    before: int, calls: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    free, started = [before, 0], []

    def run(command: list[str], **_how: object) -> SimpleNamespace:
        started.append(command)
        return SimpleNamespace(returncode=1)

    monkeypatch.setattr(measuring.shutil, "disk_usage", lambda _: SimpleNamespace(free=free.pop(0)))
    monkeypatch.setattr(environment, "run", run)
    monkeypatch.setattr(system, "set_up_run", lambda: None)
    monkeypatch.setattr(environment, "make", lambda _: None)
    with pytest.raises(RunError, match=f"the disk that holds {tmp_path} is full; "):
        measuring.measure([])
    assert len(started) == calls
