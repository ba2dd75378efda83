"""The other machine has to be what is known of it."""

import os
import re
from pathlib import Path

import pytest
from unit.hosts.places import remote_host

from copycost.errors import AttemptFailed
from copycost.hosts.local import LocalHost
from copycost.testbeds.over_wire import _require_as_described

KERNEL = {"kernel_release": os.uname().release, "kernel_version": os.uname().version}
HERE = (LocalHost(), "127.0.0.1", "lo")


def test_a_machine_that_is_as_it_was_described_is_taken(tmp_path: Path) -> None:
    with remote_host(tmp_path) as other:
        _require_as_described(other, KERNEL, [HERE, (other, "127.0.0.1", "lo")])


@pytest.mark.parametrize("changed", sorted(KERNEL))
def test_another_kernel_is_told_with_what_it_was(tmp_path: Path, changed: str) -> None:
    known = KERNEL | {changed: "before"}
    words = f"the other machine runs Linux {os.uname().release} {os.uname().version}, and ran"
    with (
        remote_host(tmp_path) as other,
        pytest.raises(AttemptFailed, match=re.escape(words)) as told,
    ):
        _require_as_described(other, known, [HERE])
    assert "before" in told.value.reason
    assert "delete its file in results/peers" in told.value.remedy


def test_an_address_that_an_end_has_no_more_is_told(tmp_path: Path) -> None:
    with remote_host(tmp_path) as other:
        for host in (LocalHost(), other):
            with pytest.raises(AttemptFailed) as told:
                _require_as_described(other, KERNEL, [(host, "203.0.113.7", "eth0")])
            assert told.value.reason.startswith(f"{host.name} cannot listen at 203.0.113.7 (")
