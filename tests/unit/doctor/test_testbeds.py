"""Testbed probes, on this host for real."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from copycost.config.testbeds import TESTBEDS
from copycost.doctor import testbeds

PACKAGE_ROOT = Path(testbeds.__file__).parents[2]


def test_every_testbed_is_available_or_has_a_reason_and_a_remedy() -> None:
    facts = testbeds.probe_testbeds()
    assert list(facts) == [name for name in TESTBEDS if not TESTBEDS[name].away]
    for bed in facts.values():
        assert bed.available == (bed.reason is None) == (bed.isolation is not None)
        assert bed.available or bed.remedy
    assert facts["loopback"].available
    assert facts["loopback"].isolation == "host"


def test_the_probing_process_leaves_this_one_where_it_was() -> None:
    before = Path("/proc/self/ns/net").readlink()
    testbeds.probe_testbeds()
    assert Path("/proc/self/ns/net").readlink() == before


@pytest.mark.needs_root
def test_a_veth_pair_without_namespaces_is_unavailable_with_reason_and_remedy() -> None:
    # The limit is set in a user namespace of the test's own, and ends with it.
    script = (
        "echo 0 > /proc/sys/user/max_net_namespaces && "
        f"exec {sys.executable} -c {shlex.quote(testbeds.BUILD)} veth"
    )
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(PACKAGE_ROOT)},
    )
    if done.returncode != 0:
        pytest.skip(f"no user namespace to try it in: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    assert answer["isolation"] is None
    assert "namespace" in answer["reason"]
    assert answer["remedy"]


def test_a_probe_that_breaks_is_a_reason_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testbeds.sys, "executable", "/nonexistent/python")
    bed = testbeds.probe_testbeds()["veth"]
    assert not bed.available
    assert "/nonexistent/python" in str(bed.reason)
    monkeypatch.setattr(testbeds.sys, "executable", "/bin/false")
    assert "ended with code 1" in str(testbeds.probe_testbeds()["veth"].reason)
