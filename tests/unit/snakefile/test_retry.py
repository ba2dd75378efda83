import json
from pathlib import Path
from typing import cast

import pytest
import yaml
from configured import NOTHING, configured
from sample_records import sample_record
from skipped_records import skipped_record

from copycost.config.cells import Cell
from copycost.config.config import Config
from copycost.records.record import Record, write_record
from copycost.snakefile import retry
from copycost.studies.memory.record import MEMORY

CELLS = [Cell("streams", "veth", "one_copy", 65536, n) for n in (1, 2, 3, 4)]
STATUSES = ["measured", "failed", "skipped"]


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """A run with one repetition of each status, and a fourth that was cut short."""
    monkeypatch.chdir(tmp_path)
    paths = [Path(cell.path) for cell in CELLS]
    for cell, path, status in zip(CELLS, paths, (*STATUSES, None), strict=True):
        path.parent.mkdir(parents=True)
        record = sample_record("one_copy", n_threads=cell.n_threads, status=status or "measured")
        whole = json.dumps(record | {"reason": "reset by peer"})
        path.write_text(whole if status else whole[:16])
    return paths


def save_config(*n_threads: int) -> None:
    of_streams = {"msg_bytes": [65536], "n_threads": list(n_threads)}
    config = configured(streams=of_streams, udp=NOTHING, round_trips=NOTHING)
    retry.CONFIG_PATH.write_text(yaml.safe_dump(config.as_dict()))


def test_failed_and_unreadable_records_go_and_the_others_stay(
    records: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for word, is_there in (("--list", True), ("", False)):
        retry.main(word)
        assert [path.exists() for path in records] == [True, is_there, True, is_there]
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == "veth one_copy 64 KiB x 2 threads, repetition 1: failed, reset by peer"
        assert lines[1].startswith("veth one_copy 64 KiB x 4 threads, repetition 1: unreadable, ")
    assert lines[2] == "copycost: 2 repetitions will be measured again by the next run"


def test_what_a_job_of_the_present_grid_measured_is_measured_again_together(
    records: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    made = [
        sample_record("one_copy", n_threads=2, rep=rep, status=status)
        for rep, status in ((1, "measured"), (2, "failed"), (3, "measured"))
    ]
    write_record([one | {"reason": "reset"} for one in made], records[1])  # type: ignore[arg-type]
    save_config(1)
    assert retry.failures() == ""
    save_config(2)
    assert retry.failures() == "1 repetition"
    retry.main()
    said = capsys.readouterr().out.splitlines()[-1]
    assert said == "copycost: 3 repetitions will be measured again by the next run"


def test_other_studies_the_memory_and_machines_that_were_not_reached_are_told_and_go_too(
    records: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    save_config(4)
    config = Config.from_dict(yaml.safe_load(retry.CONFIG_PATH.read_text()))
    budget = Path(config.cpu_budget.cells()[0].path)
    budget.parent.mkdir(parents=True)
    failed = {**skipped_record(config.cpu_budget.cells()[0]), "status": "failed"}
    write_record(cast("Record", failed), budget)
    memory = Path(retry.MEMORY_PATH)
    MEMORY.kind.write(MEMORY.lost(memory, "out of memory", None), memory)
    retry.PEERS_PATH.mkdir(parents=True)
    down, up = retry.PEERS_PATH / "lab2.json", retry.PEERS_PATH / "lab1.json"
    down.write_text(json.dumps({"wire": {"unavailable": {"reason": "no route to lab2"}}}))
    up.write_text(json.dumps({"wire": {"unavailable": None}}))
    retry.main()
    lines = capsys.readouterr().out.splitlines()
    assert "memory floor: failed, out of memory" in lines
    assert any("10 % by cgroup" in line for line in lines)
    assert "everything over the wire to lab2: not reached, no route to lab2" in lines
    assert not any(path.exists() for path in (budget, memory, down))
    assert up.exists()
