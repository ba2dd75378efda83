import json
from pathlib import Path

import pytest
from unit.fleet.made import host_facts, records_of, write_run

from copycost.fleet.export import archive_of
from copycost.fleet.parcel import read_parcel
from copycost.fleet.privacy import without_private


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("no /home/alice/copycost/results/bin/sender here", "no (path) here"),
        ("connect to 10.1.2.3 failed", "connect to (address) failed"),
        ("from fe80::1 to 2001:db8::17", "from (address) to (address)"),
        ("device 52:54:00:12:34:56", "device (address)"),
        *((text, text) for text in ("at 2026-11-22T14:53:20.614+00:00", "6.1.187, and/or 6.1.0")),
    ],
)  # fmt: skip
def test_paths_and_addresses_are_left_out_of_texts(text: str, left: str) -> None:
    assert without_private({"reason": text}) == {"reason": left}


def test_names_are_left_out_of_free_texts_and_of_nothing_else() -> None:
    record = {"reason": "veth: no such device on veth", "kind": "veth"}
    assert without_private(record, ["veth"]) == {
        "reason": "(name): no such device on (name)",
        "kind": "veth",
    }


def test_an_export_holds_nothing_private(tmp_path: Path) -> None:
    host = host_facts()
    host["tools"] = {"perf": {"path": "/home/alice/bin/perf", "version": "6.1"}}
    records = records_of()
    for record in records:
        record["testbed"]["addresses"] = ["10.9.8.7", "::1"]
        record["driver"]["sender"]["options"] |= {"connect_address": "10.9.8.7", "port": 4242}
    boot = records[0]["boot_id"]
    parcel = read_parcel(write_run(tmp_path, records, host), "lab", ["alice"])
    archive_of(parcel)
    text = json.dumps([parcel.host, parcel.config, list(parcel.records)])
    for private in ("alice", "10.9.8.7", "4242", "::1", boot):
        assert private not in text
    assert len({record["boot_id"] for record in parcel.records}) == 1
