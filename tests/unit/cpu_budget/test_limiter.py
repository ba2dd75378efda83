"""Both limiters on a process that would take a whole CPU."""

import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from copycost.hosts.cgroup_hierarchy import LimiterUnavailable
from copycost.hosts.process_usage import usage_of
from copycost.observers.cpu_limit import open_limiter
from copycost.studies.cpu_budget.table import judge_limit

NAN = float("nan")


@pytest.mark.skipif(not shutil.which("cpulimit"), reason="cpulimit is not installed")
def test_cpulimit_limits_and_lets_go() -> None:
    process = subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"])
    try:
        with open_limiter("cpulimit", 20) as limiter:
            limiter.limit([process.pid])
            time.sleep(0.3)
            before = usage_of([process.pid])
            time.sleep(0.5)
            used = usage_of([process.pid]) - before
            assert limiter.alive()
            assert limiter.throttling() is None
        state = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
    finally:
        process.kill()
        process.wait()
    # far more than 20 %, since on a busy host cpulimit itself waits for a CPU; unlimited it is 1
    assert used.cpu_ns / used.at_ns < 0.8
    assert state != "T"


@pytest.mark.skipif(not shutil.which("cpulimit"), reason="cpulimit is not installed")
def test_more_than_all_cpus_for_one_process_is_a_limit_that_cpulimit_takes() -> None:
    with (
        subprocess.Popen(["sleep", "60"]) as process,
        open_limiter("cpulimit", 100 * (os.cpu_count() or 1) + 40) as limiter,
    ):
        try:
            limiter.limit([process.pid])
            with suppress(subprocess.TimeoutExpired):  # where it refuses, it says so and ends
                limiter._helpers[0].wait(0.3)
            assert limiter.alive()
        finally:
            process.kill()


@pytest.mark.skipif(not shutil.which("cpulimit"), reason="cpulimit is not installed")
def test_a_whole_cpu_needs_no_cpulimit() -> None:
    with open_limiter("cpulimit", 100, all_of_it=True) as limiter:
        limiter.limit([1])  # would stop init
        assert limiter.alive()


def test_a_missing_cpulimit_is_a_reason_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(LimiterUnavailable) as raised, open_limiter("cpulimit", 20):
        pass
    assert raised.value.reason == "cpulimit was not found"
    assert "install" in raised.value.remedy


@pytest.mark.parametrize(
    ("used", "limit", "held_share", "receiver", "waiting", "expected"),
    [
        (39.0, 40.0, 1.0, 30.0, 0.0, (False, False)),
        (46.0, 40.0, 1.0, 30.0, 0.0, (True, False)),  # too much is always the limiter's doing
        (30.0, 40.0, 0.9, 30.0, 0.0, (True, False)),  # held back, and by too much
        (30.0, 40.0, 0.1, 30.0, 0.0, (False, True)),  # not held back: it did not want more
        (30.0, 40.0, NAN, 30.0, 0.0, (True, False)),
        (30.0, 40.0, NAN, 97.0, 0.0, (False, True)),  # the receiver had no CPU left
        (30.0, 40.0, NAN, 30.0, 9.0, (False, True)),  # the sender waited for a CPU
        (30.0, 40.0, NAN, 30.0, NAN, (True, False)),
    ],
)
def test_who_is_to_blame(
    used: float,
    limit: float,
    held_share: float,
    receiver: float,
    waiting: float,
    expected: tuple[bool, bool],
) -> None:
    assert judge_limit(used, limit, held_share, receiver, waiting, held=True) == expected


def test_a_limiter_that_died_has_missed() -> None:
    assert judge_limit(40.0, 40.0, NAN, 30.0, 0.0, held=False) == (True, False)
