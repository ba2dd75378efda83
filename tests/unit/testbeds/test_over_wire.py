"""The other machine has to be what is known of it."""

import os
import re
from pathlib import Path

import pytest
from unit.hosts.places import remote_host

from copycost.errors import AttemptFailed
from copycost.hosts.local import LocalHost
from copycost.testbeds.links import End
from copycost.testbeds.over_wire import _require_as_described

KERNEL = {"kernel_release": os.uname().release, "kernel_version": os.uname().version}
HERE = End(LocalHost(), "127.0.0.1", "lo")


def test_a_machine_with_another_kernel_than_it_was_described_with_is_told(tmp_path: Path) -> None:
    words = f"the other machine runs Linux {os.uname().release} {os.uname().version}, and ran"
    with remote_host(tmp_path) as other:
        _require_as_described(other, KERNEL, [HERE, End(other, "127.0.0.1", "lo")])
        for changed in KERNEL:
            with pytest.raises(AttemptFailed, match=re.escape(words)) as told:
                _require_as_described(other, KERNEL | {changed: "before"}, [HERE])
            assert "before" in told.value.reason
            assert "delete its file in results/peers" in told.value.remedy


def test_an_address_that_an_end_has_no_more_is_told(tmp_path: Path) -> None:
    with remote_host(tmp_path) as other:
        for host in (LocalHost(), other):
            with pytest.raises(AttemptFailed) as told:
                _require_as_described(other, KERNEL, [End(host, "203.0.113.7", "eth0")])
            assert told.value.reason.startswith(f"{host.name} cannot listen at 203.0.113.7 (")
