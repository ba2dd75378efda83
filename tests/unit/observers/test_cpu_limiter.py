"""Both limiters on a process that would take a whole CPU."""

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from setups import HOST, setup
from unit.hosts.places import running

from copycost.errors import Unavailable
from copycost.hosts import local
from copycost.hosts.processes import usage_of
from copycost.hosts.side import Side
from copycost.observers.cpu_limiter import CpuLimit
from copycost.studies.cpu_budget.records import judge_limit

NAN = float("nan")
SPIN = (sys.executable, "-S", "-c", "while True: pass")
SLEEP = ("sleep", "60")

needs_cpulimit = pytest.mark.skipif(
    not shutil.which("cpulimit"), reason="cpulimit is not installed"
)


@contextmanager
def sender(*words: str) -> Iterator[Side]:
    with running(*words) as program:
        yield Side("sender", HOST, [program])


@contextmanager
def limited(side: Side, kind: str, percent: float, *, whole: bool = False) -> Iterator[CpuLimit]:
    limit = CpuLimit(kind, percent, whole=whole)  # type: ignore[arg-type]
    with closing(limit):
        limit.prepare(setup().testbed)
        limit.attach([side, Side("receiver", HOST, [])])
        yield limit


def state_of(side: Side) -> str:
    stat = Path(f"/proc/{side.pids[0]}/stat").read_text()
    return stat.rpartition(")")[2].split()[0]


@needs_cpulimit
def test_cpulimit_limits_and_lets_go() -> None:
    with sender(*SPIN) as side, limited(side, "cpulimit", 20) as limit:
        time.sleep(0.3)
        before = usage_of(side.pids)
        limit.window_begins()
        time.sleep(0.5)
        used = usage_of(side.pids) - before
        limit.window_ends()
        limit.traffic_ends([side])
        assert state_of(side) != "T"
        found = limit.found()
    # far more than 20 %, since on a busy host cpulimit itself waits for a CPU; unlimited it is 1
    assert used.cpu_ns / used.at_ns < 0.8
    assert found == {"kind": "cpulimit", "offered_percent": 20, "held": True, "throttled": None}


@needs_cpulimit
def test_a_limiter_that_died_is_told() -> None:
    more_than_all = 100 * (os.cpu_count() or 1) + 40
    with sender(*SLEEP) as side, limited(side, "cpulimit", more_than_all) as limit:
        (helper,) = limit._helpers
        # where it refuses a share for one process, it ends by itself
        assert helper.wait(0.3) is None, helper.errors()
        helper.end()
        limit.window_begins()
        limit.window_ends()
        assert limit.found()["held"] is False


def test_a_missing_cpulimit_is_a_reason_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "search_path", lambda: "/nonexistent")
    with pytest.raises(Unavailable) as raised:
        CpuLimit("cpulimit", 20, whole=False).prepare(setup().testbed)
    assert raised.value.reason == "cpulimit was not found on this host"
    assert "install" in raised.value.remedy


@pytest.mark.parametrize(
    ("figures", "expected"),  # used, limit, held_share, receiver, waiting
    [
        ((39.0, 40.0, 1.0, 30.0, 0.0), (False, False)),
        ((46.0, 40.0, 1.0, 30.0, 0.0), (True, False)),  # too much is always the limiter's doing
        ((30.0, 40.0, 0.9, 30.0, 0.0), (True, False)),  # held back, and by too much
        ((30.0, 40.0, 0.1, 30.0, 0.0), (False, True)),  # not held back: it did not want more
        ((30.0, 40.0, NAN, 30.0, 0.0), (True, False)),
        ((30.0, 40.0, NAN, 97.0, 0.0), (False, True)),  # the receiver had no CPU left
        ((30.0, 40.0, NAN, 30.0, 9.0), (False, True)),  # the sender waited for a CPU
        ((30.0, 40.0, NAN, 30.0, NAN), (True, False)),
    ],
)
def test_who_is_to_blame(figures: tuple[float, ...], expected: tuple[bool, bool]) -> None:
    assert judge_limit(*figures, held=True) == expected
    assert judge_limit(*figures, held=False) == (True, False)
