"""What is looked at before a run, and which of two states of a host is kept."""

import json
from pathlib import Path
from typing import cast

import pytest
from configured import NOTHING, configured
from sample_records import sample_record

from copycost.config.cells import Cell
from copycost.config.config import Config
from copycost.config.passes import read_pass, write_pass
from copycost.records.record import Record, host_digest, write_record
from copycost.snakefile.before_run import HOST_PATH, unusable

HOST = {"cpu": "described now"}
PASS = Path("results/passes/1.json")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    """Three cells are asked for, of which one is of the present state of the host."""
    monkeypatch.chdir(tmp_path)
    for n_threads in (1, 2, 3):
        digest = host_digest(HOST) if n_threads == 3 else "b" * 64
        record = sample_record("two_copy", n_threads=n_threads, host_digest=digest)
        path = Path(Cell("streams", **record["cell"]).path)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_record(cast("Record", record), path)
    cells = {"msg_bytes": [65536], "n_threads": [1, 2, 3], "implementations": ["two_copy"]}
    return configured(streams=cells, udp=NOTHING, round_trips=NOTHING)


def found(config: Config) -> list[str]:
    paths = [path for path, _ in unusable(config)]
    return sorted(next((one for one in path.parts if "n_thr" in one), path.name) for path in paths)


def test_the_state_that_is_described_now_is_kept_though_most_is_of_another(config: Config) -> None:
    HOST_PATH.write_text(json.dumps(HOST))
    assert found(config) == ["n_threads=1", "n_threads=2"]


@pytest.mark.parametrize("described", ['{"cpu": "another"}', None])
def test_where_nothing_is_of_it_the_state_of_most_is_kept(
    config: Config, described: str | None
) -> None:
    if described is not None:
        HOST_PATH.write_text(described)
    assert found(config) == ["n_threads=3"]


@pytest.mark.parametrize("text", ["", "{}", '{"records": ["elsewhere"]}', "[1]", "\x00"])
def test_a_damaged_choice_of_a_pass_is_made_again(config: Config, text: str) -> None:
    PASS.parent.mkdir()
    write_pass([Cell("streams", "veth", "two_copy", 4096, 1)], PASS)
    assert PASS.name not in found(config)
    PASS.write_text(text)
    HOST_PATH.write_text("{")
    assert {PASS.name, HOST_PATH.name} <= set(found(config))
    assert read_pass(PASS) == []


@pytest.mark.parametrize(("status", "goes"), [("failed", True), ("skipped", False)])
def test_what_failed_with_another_machine_is_measured_again(
    config: Config, status: str, *, goes: bool
) -> None:
    tree = config.as_dict()
    tree["wire"] |= {"alias": "lab", "peer": "user@lab"}
    tree["streams"]["testbeds"] = ["veth", "wire-lab"]
    for testbed in tree["streams"]["testbeds"]:
        record = sample_record("two_copy", testbed=testbed, rep=1, status=status)
        path = Path(Cell("streams", **record["cell"]).path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record | {"reason": "the connection to lab ended"}))
    gone = [str(path) for path, why in unusable(Config.from_dict(tree)) if "another machine" in why]
    assert any("wire-lab" in path for path in gone) is goes
    assert not any("=veth" in path for path in gone)


@pytest.mark.parametrize("failed", [True, False])
def test_a_machine_that_was_not_reached_is_asked_again_if_that_may_help(
    config: Config, *, failed: bool
) -> None:
    missing = {"reason": "no route to lab", "remedy": "switch it on"}
    path = Path("results/peers/lab.json")
    path.parent.mkdir()
    path.write_text(json.dumps({"wire": {"unavailable": missing | {"failed": failed}}}))
    assert (path.name in found(config)) is failed
