"""Why a repetition failed, and what helps, from what the programs said at their end."""

from types import SimpleNamespace
from typing import cast

import pytest

from copycost.hosts.host import Program
from copycost.hosts.launch import Launch
from copycost.hosts.side import SideName
from copycost.measure.drivers.programs.conversation import SideEnded
from copycost.measure.drivers.programs.side import RunningSide
from copycost.measure.drivers.programs.verdict import judge
from copycost.measure.drivers.protocol import AGAIN


def ended(name: SideName, code: int, said: str) -> RunningSide:
    program = SimpleNamespace(
        launch=Launch((name,), name),
        exit_code=code,
        killed=False,
        errors=lambda: said,
        output=lambda: "",
    )
    return RunningSide(name, cast("Program", program))


@pytest.mark.parametrize(
    ("first", "said", "over_wire", "named"),
    [
        ("receiver", "net: connect to 192.0.2.1 port 4000: Connection timed out", True, True),
        ("receiver", "net: connect to 192.0.2.1 port 4000: No route to host", True, True),
        ("sender", "greeting: 0 of 2 connections have greeted: Connection timed out", True, True),
        # some came through
        ("sender", "greeting: 1 of 2 connections have greeted: Connection timed out", True, False),
        ("receiver", "net: connect to 10.0.0.1 port 4000: Connection timed out", False, False),
    ],
)
def test_who_is_kept_out_over_a_wire_is_told_to_let_connections_in(
    first: SideName, said: str, over_wire: bool, named: bool
) -> None:
    other: SideName = "sender" if first == "receiver" else "receiver"
    sides = [ended(first, 1, f"{first}: {said}"), ended(other, 0, f"{other}: Broken pipe")]
    verdict = judge(SideEnded(first, "handshake"), sides, over_wire=over_wire)
    assert verdict.status == "failed"
    assert said in verdict.reason
    assert verdict.remedy.startswith("let TCP connections") == named
    assert verdict.remedy.endswith(AGAIN)
