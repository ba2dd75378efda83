"""Which options the programs get."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from copycost.config.config import Settings
from copycost.drivers.programs.command import side_command
from copycost.drivers.programs.side import SideName
from copycost.drivers.programs.task import Task
from copycost.grid.cells import Cell
from copycost.hosts.namespaces import Namespace
from copycost.hosts.placement import Placement
from copycost.testbeds.drop_hook import DropHook
from copycost.testbeds.testbed import Testbed

SETTINGS = Settings(
    warmup_s=0.2,
    duration_s=1.0,
    congestion_control="cubic",
    tcp_nodelay="kernel",
    send_buffer_bytes=None,
    receive_buffer_bytes=1 << 20,
    sender_cpus=None,
    receiver_cpus=None,
)
CELL = Cell("streams", "veth", "two_copy", 65536, 2, "hot", "recv", 1)
NOWHERE = Namespace(-1)
VETH = Testbed("veth", "root", NOWHERE, NOWHERE, ("198.18.0.1", "198.18.0.2"), 1500, {"tso": True})
SINK = replace(VETH, kind="sink", drop_hook=DropHook(NOWHERE))


def task(cell: Cell = CELL, ring_bytes: int = 0, **settings: Any) -> Task:  # noqa: ANN401
    return Task(
        cell=cell,
        settings=replace(SETTINGS, **settings),
        sender=Path("/bin/sender"),
        receiver=None if cell.testbed == "sink" else Path("/bin/receiver"),
        ring_bytes=ring_bytes,
        host={},
        io_timeout_s=10.0,
        parent_fds=(),
        lock_fd=-1,
    )


def words(task: Task, testbed: Testbed = VETH, side: SideName = "sender") -> str:
    return " ".join(side_command(task, Placement((0, 1), (1, 0)), testbed, side, "0" * 16))


def test_a_plain_stream_gets_no_option_that_it_does_not_need() -> None:
    assert words(task()) == (
        "/bin/sender --bind 198.18.0.1 --threads 2 --msg-bytes 65536 --cpus 0,1"
        " --sndbuf-bytes 0 --rcvbuf-bytes 1048576 --congestion cubic,reno --nodelay kernel"
        " --io-timeout-ms 10000 --token 0000000000000000"
    )
    receiver = words(task(), side="receiver")
    assert receiver.startswith("/bin/receiver --connect 198.18.0.1 --threads 2")
    assert "--cpus 1,0" in receiver


@pytest.mark.parametrize(
    ("changed", "option"),
    [
        (task(ring_bytes=4096), " --ring-bytes 4096"),
        (task(replace(CELL, implementation="sendmmsg_x16")), " --batch 16"),
        (task(fresh=True), " --fresh"),
    ],
)
def test_what_is_asked_of_the_messages_goes_to_the_sender_alone(changed: Task, option: str) -> None:
    assert option in words(changed)
    assert option not in words(changed, side="receiver")


def test_nobody_connects_to_a_sink_s_sender() -> None:
    command = words(task(replace(CELL, testbed="sink")), SINK)
    assert "--connect 198.18.0.2 --port 9 " in command
    assert "--transport datagram" in command
    assert command.endswith(" --sink")
    for option in ("--bind", "--congestion", "--nodelay"):
        assert option not in command


def test_datagrams_that_are_received_are_waited_for_by_their_sender() -> None:
    testbed = replace(VETH, kind="veth_udp")
    cell = replace(CELL, testbed="veth_udp")
    assert "--bind 198.18.0.1" in words(task(cell), testbed)
    assert "--sink" not in words(task(cell), testbed)
    assert "--transport datagram" in words(task(cell), testbed, "receiver")


def test_both_sides_of_round_trips_know_and_send_without_delay() -> None:
    asks = task(replace(CELL, study="round_trips"), interval_us=50)
    assert "--interval-ns 50000" in words(asks)
    assert "--interval-ns" not in words(asks, side="receiver")
    for side in ("sender", "receiver"):
        assert "--mode request_response" in words(asks, side=side)
        assert "--nodelay on" in words(asks, side=side)
    delayed = task(replace(CELL, study="round_trips"), tcp_nodelay="off")
    assert "--nodelay off" in words(delayed)
