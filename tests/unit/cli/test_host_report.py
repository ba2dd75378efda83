"""The configuration of a host's own report is one that the workflow takes."""

import json
from pathlib import Path

import yaml
from unit.compare.hosts.made import records_of, write_run
from unit.config.test_check import check

from copycost.cli.host_report import config_of
from copycost.compare.hosts.import_archive import read_parcel
from copycost.compare.hosts.merging import merge
from copycost.config.cells import Cell


def test_testbeds_over_a_wire_and_those_with_guests_are_taken(tmp_path: Path) -> None:
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
    config["streams"]["testbeds"] = list(kinds)
    config["wire"] = {"peer": "bob@db1", "more": [{"peer": "carol@x", "alias": "lab2"}]}
    (run / "config.yaml").write_text(yaml.safe_dump(config))
    one = merge(read_parcel(run, "lab"), tmp_path / "fleet").into
    assert "db1" not in json.dumps([str(path) for path in one.records])
    found = config_of(one, [Cell.from_path(str(path)) for path in one.records])
    assert found["streams"]["testbeds"] == ["wire", "wire_in", "vm_pair", "veth"]
    checked = check(found)
    assert {"wire-other", "wire_in-other", "wire-lab2", "vm_pair", "veth"} <= {
        *checked.streams.testbeds
    }


def test_sizes_that_no_list_names_are_reported_too(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", records_of())
    config = yaml.safe_load((run / "config.yaml").read_text())
    config["streams"]["msg_bytes"] = [64]
    (run / "config.yaml").write_text(yaml.safe_dump(config))
    one = merge(read_parcel(run, "lab"), tmp_path / "fleet").into
    cells = [Cell.from_path(str(path)) for path in one.records]
    found = config_of(one, cells)
    assert found["streams"]["msg_bytes"] == sorted({cell.msg_bytes for cell in cells})
