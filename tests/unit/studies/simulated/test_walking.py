"""Walks that cannot be counted say why."""

import json
from pathlib import Path

import pytest

from copycost.errors import HostError
from copycost.studies.simulated import walks

MEASURED = {"status": "measured", "reason": None, "remedy": None}


def saved_guest(folder: Path, **outcome: str) -> Path:
    """Return the folder of a guest, or of what came of saving one."""
    (folder / "made.json").write_text(json.dumps(MEASURED | outcome), encoding="utf-8")
    return folder


def test_without_a_guest_its_reason_is_that_of_the_walks(tmp_path: Path) -> None:
    folder = saved_guest(tmp_path, status="skipped", reason="there is no kernel to boot")
    found = walks.walk_all(Path("walk"), Path("plugin"), folder)
    assert (found["n"], found["reason"]) == (0, "there is no kernel to boot")


def test_a_walk_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise HostError("the guest did not end within 60 s")

    monkeypatch.setattr(walks, "simulate", fail)
    found = walks.walk_all(Path("walk"), Path("plugin"), saved_guest(tmp_path))
    assert (found["n"], found["reason"]) == (0, "the guest did not end within 60 s")
