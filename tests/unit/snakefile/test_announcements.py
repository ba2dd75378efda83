"""What is said before a run."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from copycost.records.record import SCHEMA_VERSION
from copycost.snakefile.announcements import _say_the_form_changed

FOLDER = "streams/testbed=veth/working_set=hot/receiver=recv"


@pytest.mark.parametrize(
    ("place", "version", "said"),
    [
        (f"{FOLDER}/placement=apart/rep=1.json", SCHEMA_VERSION - 1, True),
        (f"{FOLDER}/placement=apart/rep=1.json", SCHEMA_VERSION, False),
        (f"{FOLDER}/rep=1.json", SCHEMA_VERSION - 1, True),  # before there were placements
        (f"{FOLDER}/rep=2.json", SCHEMA_VERSION - 1, False),
    ],
)
def test_records_of_an_earlier_form_are_told_wherever_they_lie(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    place: str,
    version: int,
    said: bool,
) -> None:
    record = tmp_path / place
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({"schema_version": version}), encoding="utf-8")
    wanted = tmp_path / FOLDER / "placement=apart/rep=1.json"
    _say_the_form_changed([SimpleNamespace(output=SimpleNamespace(record=wanted))])
    assert ("measuring anew" in capsys.readouterr().out) is said
