"""Why a repetition failed: what was noticed first, unless a side died of something else."""

from collections.abc import Iterator

import pytest
from setups import HOST

from copycost.errors import HostError
from copycost.hosts.launch import Launch
from copycost.measure.drivers.programs.conversation import SideEnded, SideSilent
from copycost.measure.drivers.programs.side import RunningSide, end_sides
from copycost.measure.drivers.programs.verdict import judge


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
