import json
import re
import zipfile
from pathlib import Path

import pytest
import yaml
from unit.compare.hosts.made import host_facts, records_of, write_run

from copycost.compare.hosts.export import archive_of
from copycost.compare.hosts.import_archive import read_parcel
from copycost.compare.hosts.privacy import without_private


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
    assert without_private({"cmd": text}) == {"cmd": left}


def test_free_texts_stay_at_home() -> None:
    marker = "MARK alice@build-7"
    said = {"reason": marker, "remedy": marker, "detail": marker, "kernel_version": marker}
    said |= {"version": f"{marker} perf version 6.1.187-x"}
    kept = without_private({"status": "failed", "warnings": [said], "code": "foreign_load"})
    assert "MARK" not in json.dumps(kept)
    assert (kept["status"], kept["code"]) == ("failed", "foreign_load")
    assert kept["warnings"][0]["version"] == "7"  # the first number, whatever it is
    assert without_private(kept) == kept


def test_an_export_holds_nothing_private(tmp_path: Path) -> None:
    host = host_facts()
    host["tools"] = {"perf": {"path": "/home/alice/bin/perf", "version": "6.1"}}
    records = records_of()
    for record in records:
        record["testbed"]["addresses"] = ["10.9.8.7", "::1"]
        record["driver"]["sender"]["options"] |= {"connect_address": "10.9.8.7", "port": 4242}
    boot = records[0]["boot_id"]
    parcel = read_parcel(write_run(tmp_path, records, host), "lab")
    archive_of(parcel)
    text = json.dumps([parcel.host, parcel.config, list(parcel.records)])
    for private in ("alice", "10.9.8.7", "4242", "::1", boot):
        assert private not in text
    assert len({record["boot_id"] for record in parcel.records}) == 1


PRIVATE = {
    "host": "build-7", "user": "alice", "peer": "bob@srv1.corp.org", "jump": "gate.corp.org",
    "node": "rack3-n17", "address": "10.9.8.7", "address_6": "fd12::9:17",
    "mac": "52:54:00:ab:cd:ef",
    "path": "/home/alice/copycost", "key": "/home/alice/.ssh/lab_key",
    "cmdline": "console=ttyS0 root=UUID=6d1c-77", "qemu": "-netdev tap,ifname=cc-7,id=n0",
}  # fmt: skip
"""What stands in the files of a run with guests and another machine; of each kind one."""


def planted(folder: Path) -> Path:
    """Write a run with what is private in every file that an export is made of, and others."""
    said = f"{PRIVATE['user']} on {PRIVATE['host']}: {PRIVATE['path']}/x, {PRIVATE['address']}, "
    said += f"{PRIVATE['address_6']}, {PRIVATE['mac']}; {PRIVATE['peer']} did not answer"
    host = host_facts(kernel_version=f"#1 SMP ({PRIVATE['user']}@{PRIVATE['host']})")
    host["tools"] = {"ip": {"path": f"{PRIVATE['path']}/ip", "version": said}}
    host["testbeds"] = {"veth": {"available": False, "reason": said, "remedy": said}}
    kinds = {"wire-srv1-corp-org": "ssh", "vm_pair": "guest", "veth": "local"}
    records = [
        record
        for number, testbed in enumerate(kinds)
        for record in records_of(range(1, 3), start_s=1000 * (number + 1), testbed=testbed)
    ]
    for record in records:
        kind = kinds[record["cell"]["testbed"]]
        laid = record["testbed"]
        there = laid["machines"]["receiver"] | {"kind": kind}
        there["name"] = PRIVATE["peer"] if kind == "ssh" else "guest a"
        laid |= {"kind": record["cell"]["testbed"].partition("-")[0],
                 "addresses": [PRIVATE["address"], PRIVATE["address_6"]],
                 "machines": {**laid["machines"], "receiver": there}}  # fmt: skip
        record["warnings"] = [{"code": "foreign_load", "detail": said}]
        for side in ("sender", "receiver"):
            options = record["driver"][side]["options"]
            options |= {"connect_address": PRIVATE["address"], "bind_address": PRIVATE["address"]}
    write_run(folder, records, host)
    config = yaml.safe_load((folder / "config.yaml").read_text())
    config["streams"]["testbeds"] = list(kinds)
    config["hosts"] = {"alias": "auto", "slurm": {"nodes": [PRIVATE["node"]]}}
    config["wire"] = {
        "peer": PRIVATE["peer"], "address": PRIVATE["address"], "alias": "auto",
        "ssh_options": ["-i", PRIVATE["key"], "-o", f"ProxyJump={PRIVATE['jump']}"], "more": [],
    }  # fmt: skip
    config["virtual"] = {"kernel": f"{PRIVATE['path']}/vmlinuz"}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    for name in ("guest.json", "peers/srv1-corp-org.json", "logs/qemu.log"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(PRIVATE))
    return folder


def test_of_runs_with_guests_and_other_machines_nothing_private_is_handed_on(
    tmp_path: Path,
) -> None:
    run = planted(tmp_path / "results")
    before = "".join(path.read_text() for path in run.rglob("*.*") if path.is_file())
    assert all(value in before for value in PRIVATE.values())
    archive = tmp_path / "lab.zip"
    archive.write_bytes(archive_of(read_parcel(run, "lab")))
    with zipfile.ZipFile(archive) as files:
        texts = {name: files.read(name).decode() for name in files.namelist()}
    words = {word for value in PRIVATE.values() for word in (value, *re.split("[@ ]", value))}
    words |= {"srv1", "corp", "lab_key", "ab:cd"}
    for name, text in texts.items():
        assert [word for word in words if word in name or word in text] == [], name
    again = read_parcel(archive)
    testbeds = {record["cell"]["testbed"] for record in again.records}
    assert testbeds == {"wire-other", "vm_pair", "veth"} == set(again.config["streams"]["testbeds"])
    assert len(again.records) == 12


def test_a_machine_that_was_given_a_name_keeps_it() -> None:
    record = {"testbed": "wire_in-lab2", "detail": "on bob@srv1"}
    assert without_private(record, ["bob@srv1"]) == {
        "testbed": "wire_in-lab2",
        "detail": "(not handed on)",
    }
