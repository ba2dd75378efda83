"""Why a repetition failed: what was noticed first, unless a side died of something else."""

from collections.abc import Iterator

import pytest
from setups import HOST

from copycost.errors import HostError
from copycost.hosts.launch import Launch
from copycost.measure.drivers.programs.conversation import SideEnded, SideSilent
from copycost.measure.drivers.programs.driver import _report_of
from copycost.measure.drivers.programs.side import RunningSide, end_sides
from copycost.measure.drivers.programs.verdict import judge, unexplained
from copycost.measure.drivers.protocol import MissedWindow


@pytest.fixture
def deaf() -> Iterator[RunningSide]:
    """A sender that neither says anything nor ends when it is told to."""
    program = HOST.start(Launch(("sleep", "60"), "sleep", control=True))
    yield RunningSide("sender", program)
    program.end()
    program.close()


@pytest.mark.parametrize("error", [HostError("no counters here"), SideSilent("no word")])
def test_whom_we_had_to_kill_is_not_what_went_wrong(deaf: RunningSide, error: HostError) -> None:
    end_sides([deaf], grace_s=0)
    assert judge(error, [deaf]).reason == str(error)


def test_a_side_that_somebody_killed_is_named_with_the_signal(deaf: RunningSide) -> None:
    deaf.program.signal(9)
    deaf.program.wait(60)
    verdict = judge(SideEnded("sender", "window"), [deaf])
    assert verdict.reason == "the sender was killed by SIGKILL during the window"
    assert "out-of-memory" in verdict.remedy


@pytest.mark.parametrize(
    ("said", "again"),
    [
        ("connection 0: the sender closed it before the end of the window", True),
        ("pattern: Cannot allocate memory", False),
    ],
)
def test_an_end_without_a_reason_is_none_for_giving_up(said: str, again: bool) -> None:
    sides = []
    for name, script in (
        ("sender", "sleep 60"),
        ("receiver", f"echo 'receiver: {said}' >&2; exit 1"),
    ):
        launch = Launch(("env", "sh", "-c", script), "sh", control=True)  # env in the place of perf
        sides.append(RunningSide(name, HOST.start(launch)))
    sides[1].program.wait(60)
    end_sides(sides, grace_s=0)
    assert unexplained(sides) is again
    for side in sides:
        side.program.close()


def test_an_end_without_a_result_is_measured_again() -> None:
    program = HOST.start(Launch(("env", "true"), "true", control=True))  # env in the place of perf
    program.wait(60)
    with pytest.raises(MissedWindow):
        _report_of(RunningSide("sender", program))
    program.close()
