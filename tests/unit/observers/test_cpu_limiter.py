"""A limiter that is missing or dies, and who is to blame for a limit that was missed."""

import os
import shutil
from contextlib import closing

import pytest
from setups import HOST, setup
from unit.hosts.places import running

from copycost.errors import Unavailable
from copycost.hosts import local
from copycost.hosts.side import Side
from copycost.observers.cpu_limiter import CpuLimit
from copycost.studies.cpu_budget.records import judge_limit

NAN = float("nan")

needs_cpulimit = pytest.mark.skipif(
    not shutil.which("cpulimit"), reason="cpulimit is not installed"
)


@needs_cpulimit
def test_a_limiter_that_died_is_told() -> None:
    more_than_all = 100 * (os.cpu_count() or 1) + 40
    limit = CpuLimit("cpulimit", more_than_all, whole=False)
    with running("sleep", "60") as program, closing(limit):
        limit.prepare(setup().testbed)
        limit.attach([Side("sender", HOST, [program]), Side("receiver", HOST, [])])
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
