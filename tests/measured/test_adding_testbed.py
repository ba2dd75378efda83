"""A new testbed: one entry and one file, as CONTRIBUTING.md says, in a copy of the package."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from measured.failures_support import ROOT, host_facts, programs_folder

pytestmark = pytest.mark.needs_root

ENTRY = """    "veth_narrow": TestbedEntry("stream", "a veth pair with packets of 600 bytes"),
"""
FILE = '''"""The testbed `veth_narrow`: a veth pair with small packets."""

from collections.abc import Iterator
from contextlib import contextmanager

from copycost.hosts.local import LocalHost
from copycost.hosts.testbeds.testbed import Testbed
from copycost.hosts.testbeds.on_host import veth_pair


@contextmanager
def build(machine: LocalHost, *, page_segments: bool) -> Iterator[Testbed]:
    """Build it, and take it down at the end of the block."""
    with veth_pair("veth_narrow", machine, mtu_bytes=600) as testbed:
        yield testbed
'''
# what everybody who has to know a testbed says of it
ASKED = """
import json, sys, yaml
from pathlib import Path
from copycost.config.checkout import ROOT
from copycost.build.toolchain import strategies
from copycost.config.check import check_config
from copycost.config.grid import Grid
from copycost.config.sources import Source, Surroundings, usual_tree
from copycost.cli.doctor.testbeds import probe_testbeds
from copycost.config.conditions import Condition
from copycost.records.derive import derive_row
from copycost.records.record import read_record
from copycost.records.table import make_table
from copycost.config.testbeds import path_of
config = usual_tree()
config["streams"] |= {"testbeds": ["veth_narrow"], "implementations": ["two_copy"]}
checked = check_config([Source("config.yaml", config)], Surroundings(strategies(ROOT), {0, 1}))
cells = [cell for cell in Grid.of(checked).cells if cell.testbed == "veth_narrow"]
row = make_table([derive_row(read_record(Path(sys.argv[1])))]).iloc[0]
print(json.dumps({
    "cells": len(cells),
    "available": probe_testbeds()["veth_narrow"]["available"],
    "report": path_of(row["testbed"]),
    "slug": Condition.from_slug("veth_narrow_cold").slug,
    "row": [row["testbed"], row["condition"], row["transport"], int(row["mtu_bytes"])],
}))
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the package needs, with one more testbed."""
    for name in ("workflow", "src", "config", "report"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "config.yaml", tmp_path)
    package = tmp_path / "workflow" / "copycost"
    table = package / "config" / "testbeds.py"
    text = table.read_text()
    first = '    "veth": TestbedEntry('
    assert text.count(first) == 1
    table.write_text(text.replace(first, ENTRY + first))
    (package / "hosts/testbeds/veth_narrow.py").write_text(FILE)
    return tmp_path


def python(checkout: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout / "workflow")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_entry_and_a_file_are_all_that_a_testbed_takes(checkout: Path) -> None:
    (checkout / "host.json").write_text(json.dumps(host_facts(None)))
    by_hand = (
        *("-m", "copycost.measure", "two_copy", "--testbed", "veth_narrow"),
        *("--bin", str(programs_folder() / "bin"), "--host", "host.json", "--lock", "lock"),
        *("--warmup", "0.02", "--duration", "0.1", "--record", "record.json"),
    )
    python(checkout, *by_hand)
    record = json.loads((checkout / "record.json").read_text())
    assert record["status"] == "measured", record["reason"]
    assert record["driver"]["sender"]["effective"]["mss_bytes"] == 600 - 52
    found = json.loads(python(checkout, "-c", ASKED, "record.json"))
    assert found["cells"] > 0
    assert found["available"]
    assert found["report"] == "a veth pair with packets of 600 bytes"
    assert found["slug"] == "veth_narrow_cold"
    assert found["row"] == ["veth_narrow", "veth_narrow", "stream", 600]
