"""A setup for tests: all that a repetition is made of, on this machine."""

from dataclasses import replace
from typing import Any

from copycost.config.cells import Cell
from copycost.config.settings import Settings
from copycost.hosts.host import Waiting
from copycost.hosts.local import LocalHost
from copycost.hosts.placement import Placement
from copycost.hosts.testbeds.drop_hook import DropHook
from copycost.hosts.testbeds.testbed import Testbed
from copycost.measure.drivers.protocol import Setup

HOST = LocalHost()
SETTINGS = Settings(warmup_s=0.2, duration_s=1.0, congestion_control="cubic")
CELL = Cell("streams", "veth", "two_copy", 65536, 2)
SINK_HOOK = DropHook(HOST)


def setup(cell: Cell = CELL, **settings: Any) -> Setup:  # noqa: ANN401
    """Return a setup whose hosts are this machine, whatever its testbed is called."""
    sink = cell.testbed == "sink"
    testbed = Testbed(
        cell.testbed,
        "root",
        {"sender": HOST, "receiver": HOST},
        ("198.18.0.1", "198.18.0.2"),
        mtu_bytes=1500,
        offloads={"tso": True, "gso": True, "gro": True},
        drop_hook=SINK_HOOK if sink else None,
    )
    return Setup(
        cell,
        replace(SETTINGS, **settings),
        facts={"sender": {}, "receiver": {}},
        machine=HOST,
        placement=Placement((0, 1), (1, 0)),
        testbed=testbed,
        waiting=Waiting(()),
        around=lambda _, launch: launch,
    )
