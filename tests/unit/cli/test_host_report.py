"""A host's own report: its configuration is one that the workflow takes, its rounds are whole."""

import json
from pathlib import Path

import pytest
import yaml
from unit.compare.hosts.made import records_of, write_run
from unit.config.test_check import check

from copycost.cli.host_report import config_of, renumbered
from copycost.compare.hosts.import_archive import read_parcel
from copycost.compare.hosts.merging import merge
from copycost.config.cells import Cell
from copycost.errors import CopycostError


def test_testbeds_over_a_wire_those_with_guests_and_sizes_that_no_list_names_are_taken(
    tmp_path: Path,
) -> None:
    kinds = ("wire-db1", "wire_in-db1", "wire-lab2", "vm_pair", "veth")
    run = write_run(
        tmp_path / "run",
        [
            record | {"testbed": record["testbed"] | {"kind": kind.partition("-")[0]}}
            for number, kind in enumerate(kinds, 1)
            for record in records_of(start_s=1000 * number, testbed=kind)
        ],
    )
    config = yaml.safe_load((run / "config.yaml").read_text())
    config["streams"] |= {"testbeds": list(kinds), "msg_bytes": [64]}
    config["wire"] = {"peer": "bob@db1", "more": [{"peer": "carol@x", "alias": "lab2"}]}
    (run / "config.yaml").write_text(yaml.safe_dump(config))
    one = merge(read_parcel(run, "lab"), tmp_path / "fleet").into
    assert "db1" not in json.dumps([str(path) for path in one.records])
    cells = [Cell.from_path(str(path)) for path in one.records]
    found = config_of(one, cells)
    assert found["streams"]["testbeds"] == ["wire", "wire_in", "vm_pair", "veth"]
    assert found["streams"]["msg_bytes"] == sorted({cell.msg_bytes for cell in cells})
    taken = {"wire-other", "wire_in-other", "wire-lab2", "vm_pair", "veth"}
    assert taken <= {*check(found).streams.testbeds}
    (one.folder / "config.json").write_text("[")
    with pytest.raises(CopycostError, match=r"config\.json"):
        config_of(one, cells)


def test_rounds_of_further_runs_follow_without_gaps(tmp_path: Path) -> None:
    records = list(read_parcel(write_run(tmp_path), "lab").records)
    for record in records:
        if record["cell"]["rep"] > 1:
            record["cell"]["rep"] += 1000
    found = sorted(record["cell"]["rep"] for record in renumbered(records))
    assert found == [1, 1, 2, 2, 3, 3]
