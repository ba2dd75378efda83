"""What is looked at before a run: what cannot be used, and whether the results are of this host."""

import json
from pathlib import Path
from typing import cast

import pytest
from configured import NOTHING, configured
from sample_records import sample_record
from unit.compare.hosts.made import host_facts, records_of, write_run

from copycost.config.cells import Cell
from copycost.config.config import Config
from copycost.config.passes import read_pass, write_pass
from copycost.hosts.facts.identity import host_identity
from copycost.records.record import Record, cell_of, host_digest, write_record
from copycost.snakefile.before_run import HOST_PATH, keep_earlier, remark_on_host, unusable

HOST = {"cpu": "described now"}
PASS = Path("results/passes/1.json")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    """Three cells are asked for, of which one is of the present state of the host."""
    monkeypatch.chdir(tmp_path)
    for n_threads in (1, 2, 3):
        digest = host_digest(HOST) if n_threads == 3 else "b" * 64
        record = sample_record("two_copy", n_threads=n_threads, host_digest=digest)
        write_record(cast("Record", record), Path(cell_of(record).path))
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
    Path("results/config.yaml").write_text("wire: 3\nvirtual: {unavailable: 3}\n")
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
        record |= {"reason": "the connection to lab ended"}
        write_record(cast("Record", record), Path(cell_of(record).path))
    gone = [str(path) for path, why in unusable(Config.from_dict(tree)) if "another machine" in why]
    assert any("wire-lab" in path for path in gone) is goes
    assert not any("=veth" in path for path in gone)


@pytest.mark.parametrize("failed", [True, False])
@pytest.mark.parametrize(("name", "of"), [("peers/lab.json", "wire"), ("guest.json", "virtual")])
def test_a_machine_or_guest_that_was_not_reached_is_asked_again_if_that_may_help(
    config: Config, name: str, of: str, *, failed: bool
) -> None:
    missing = {"reason": "no route to lab", "remedy": "switch it on"}
    path = Path("results", name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({of: {"unavailable": missing | {"failed": failed}}}))
    assert (path.name in found(config)) is failed


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The description of this host among the results, for a test to edit."""
    monkeypatch.chdir(tmp_path)
    HOST_PATH.parent.mkdir()
    HOST_PATH.write_text(json.dumps({"identity": host_identity()}))
    return HOST_PATH


@pytest.mark.parametrize("text", [None, "", "{}", "[]", '{"identity": 3}'])
def test_nothing_is_said_without_a_description_of_another_host(
    host: Path, text: str | None
) -> None:
    assert remark_on_host(described_anew=False, measures=True, would=True) is None
    host.unlink()
    if text is not None:
        host.write_text(text)
    assert remark_on_host(described_anew=False, measures=True, would=True) is None


def test_what_cannot_be_kept_is_said(host: Path) -> None:
    write_run(host.parent, records_of(), host_facts(kernel_release="5.10-test"))
    next(host.parent.rglob("rep=1.json")).write_text("{")
    said = keep_earlier(would=False)
    assert said.startswith("The earlier results cannot be kept, and are overwritten: results: ref")


@pytest.mark.parametrize("status", [None, "skipped", "failed"])
def test_nothing_is_kept_where_nothing_was_measured(host: Path, status: str | None) -> None:
    records = [sample_record(status=status)] if status else []
    write_run(host.parent, records, host_facts(kernel_release="5.10-test"))
    assert keep_earlier(would=False) == ""
    assert not (host.parent / "fleet").exists()
