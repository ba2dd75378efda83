"""Two machines that measure with each other take turns, and have to be what is known of them."""

import os
import re
import threading
from pathlib import Path

import pytest
from unit.hosts.places import remote_host, running
from unit.hosts.test_lock import HOLDER, hold, is_held

from copycost.errors import AttemptFailed
from copycost.hosts.local import LocalHost
from copycost.hosts.testbeds.links import End
from copycost.hosts.testbeds.over_wire import _require_as_described, is_before, turn_there_too

# the other run: it holds its machine's lock, and waits for ours
CROSSING = HOLDER.replace(
    "    sys.stdin.read()",
    "    with measurement_lock(Path(sys.argv[2])):\n        pass\n",
)


def test_two_that_measure_with_each_other_do_not_wait_for_ever(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    machine = LocalHost()
    with (
        # whose end tells who waits for longer that nobody waits for it any more
        running("sleep", "30") as limit,
        remote_host(tmp_path) as other,
        machine.lock(ours, [limit.ended_fd]) as held,
        hold(theirs, ours, program=CROSSING) as crossing,
        turn_there_too(machine, other, [limit.ended_fd], keeps_ours=False, path=theirs),
    ):
        assert crossing.wait(30.0) == 0
        assert held.wait_s >= 0.9
        assert [is_held(path) for path in (ours, theirs)] == [True, True]
    said = capfd.readouterr().err
    assert said.count("copycost: another measurement runs on the other machine: waiting\n") == 1
    assert "copycost: the other measurement on the other machine is over after " in said


def test_whose_lock_is_the_first_keeps_it_while_it_waits(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    machine = LocalHost()
    with remote_host(tmp_path) as other, machine.lock(ours, []) as held, hold(theirs) as holder:
        tried: list[bool] = []

        def end() -> None:
            tried.append(is_held(ours))
            holder.kill()

        later = threading.Timer(1.5, end)
        later.start()
        with turn_there_too(machine, other, [], keeps_ours=True, path=theirs):
            assert tried == [True]
            assert held.wait_s >= 1.0
        later.join()


def test_one_of_two_is_the_first_for_both(tmp_path: Path) -> None:
    with remote_host(tmp_path) as other:  # of the same boot, as containers are
        machine = LocalHost()
        said = [is_before(machine, other, one) for one in (("a", "b"), ("b", "a"))]
        assert said == [True, False]


KERNEL = {"kernel_release": os.uname().release, "kernel_version": os.uname().version}
HERE = End(LocalHost(), "127.0.0.1", "lo")


def test_a_machine_that_is_not_as_it_was_described_is_told(tmp_path: Path) -> None:
    words = f"the other machine runs Linux {os.uname().release} {os.uname().version}, and ran"
    with remote_host(tmp_path) as other:
        _require_as_described(other, KERNEL, [HERE, End(other, "127.0.0.1", "lo")])
        for changed in KERNEL:
            with pytest.raises(AttemptFailed, match=re.escape(words)) as told:
                _require_as_described(other, KERNEL | {changed: "before"}, [HERE])
            assert "before" in told.value.reason
            assert "delete its file in results/peers" in told.value.remedy
        for host in (LocalHost(), other):
            with pytest.raises(AttemptFailed) as told:
                _require_as_described(other, KERNEL, [End(host, "203.0.113.7", "eth0")])
            assert told.value.reason.startswith(f"{host.name} cannot listen at 203.0.113.7 (")
