"""Testbed probes, on this host for real."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from copycost.cli.doctor import testbeds
from copycost.config.testbeds import TESTBEDS

PACKAGE_ROOT = Path(testbeds.__file__).parents[3]


def test_every_testbed_is_available_or_has_a_reason_and_a_remedy() -> None:
    before = Path("/proc/self/ns/net").readlink()
    facts = testbeds.probe_testbeds()
    assert list(facts) == [name for name in TESTBEDS if not TESTBEDS[name].away]
    for bed in facts.values():
        assert bed["available"] == (bed["reason"] is None) == (bed["isolation"] is not None)
        assert bed["available"] or bed["remedy"]
    assert facts["loopback"]["available"]
    assert facts["loopback"]["isolation"] == "host"
    assert Path("/proc/self/ns/net").readlink() == before


@pytest.mark.needs_root
def test_a_veth_pair_without_namespaces_is_unavailable_with_reason_and_remedy() -> None:
    # The limit is set in a user namespace of the test's own, and ends with it.
    look = "from copycost.cli.doctor.testbeds import build; veth = build('veth'); "
    look += "print(veth['isolation'], veth['reason'], veth['remedy'], sep='|')"
    limited = f'echo 0 > /proc/sys/user/max_net_namespaces && exec {sys.executable} -c "{look}"'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", limited],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(PACKAGE_ROOT)},
    )
    if done.returncode != 0:
        pytest.skip(f"no user namespace to try it in: {done.stderr.strip()}")
    isolation, reason, remedy = done.stdout.strip().split("|")
    assert isolation == "None"
    assert "namespace" in reason
    assert remedy not in ("", "None")


def test_a_probe_that_breaks_is_a_reason_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testbeds, "open_testbed", lambda _: 1 / 0)
    assert "ZeroDivisionError" in str(testbeds.probe_testbeds()["veth"]["reason"])
    monkeypatch.setattr(testbeds, "open_testbed", lambda _: os._exit(7))
    bed = testbeds.probe_testbeds()["veth"]
    assert not bed["available"]
    assert "ended with code 7" in str(bed["reason"])
