import copy
import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from unit.compare.hosts.made import host_facts, records_of, write_run

from copycost.compare.hosts.export_command import archive_of
from copycost.compare.hosts.import_archive import read_parcel
from copycost.compare.hosts.privacy import SECTIONS, without_private
from copycost.config.sources import usual_tree
from copycost.errors import DataError
from copycost.records.record import check_record

DATA = Path(__file__).parents[3] / "data"


MARK = "MARK of alice@build-7, /home/alice"
ONE_WORD = "MARK-7.corp.org"


def texts_in(value: object, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield where texts stand in a JSON value."""
    if isinstance(value, str):
        yield place
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from texts_in(item, (*place, key))


def marked(value: dict[str, Any], place: tuple[str | int, ...], mark: str = MARK) -> dict[str, Any]:
    """Return a value with the mark at a place."""
    changed: Any = copy.deepcopy(value)
    part = changed
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = mark
    return dict(changed)


@pytest.mark.parametrize("path", sorted((DATA / "records").glob("*.json")), ids=lambda p: p.stem)
def test_no_free_text_of_a_record_is_handed_on(path: Path) -> None:
    read = json.loads(path.read_text())
    n_free = 0
    for record in read.get("repetitions", [read]):
        for place, mark in product(texts_in(record), (MARK, ONE_WORD, ONE_WORD.lower())):
            one = marked(record, place, mark)
            with suppress(DataError):  # a text that the schema closes
                check_record(one, path)
                n_free += 1
                assert "mark" not in json.dumps(without_private(one)).lower(), place
        kept = without_private(record)
        assert without_private(kept) == kept
        check_record(kept, path)
    assert n_free


def test_no_free_text_of_a_host_or_a_configuration_is_handed_on() -> None:
    for value in (host_facts(), {name: usual_tree()[name] for name in SECTIONS}):
        for place in texts_in(value):
            assert "MARK" not in json.dumps(without_private(marked(value, place))), place
    for name in ("msr/tsc/", "cpu_core/cycles/u", "L1-dcache-loads:u"):
        assert without_private({"perf_name": name}) == {"perf_name": name}
    for name in ("commit", "host_digest", "capabilities"):  # a word without a dot or a capital
        assert without_private({name: "alice"}) == {name: "(not handed on)"}
    kept = without_private(host_facts())
    assert kept["identity"]["cpu_model"] == host_facts()["identity"]["cpu_model"]
    assert without_private(kept) == kept
    assert without_private({name: usual_tree()[name] for name in SECTIONS}) == {
        name: usual_tree()[name] for name in SECTIONS
    }


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
