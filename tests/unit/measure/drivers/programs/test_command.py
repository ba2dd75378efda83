"""Which options the programs get."""

from dataclasses import replace

import pytest
from setups import CELL, setup

from copycost.hosts.placement import Placement
from copycost.hosts.side import SideName
from copycost.measure.drivers.programs.command import side_options
from copycost.measure.drivers.protocol import Setup


def words(of: Setup, side: SideName = "sender", ring_bytes: int = 0) -> str:
    return " ".join(side_options(of, side, ring_bytes, 10.0))


def test_a_plain_stream_gets_no_option_that_it_does_not_need() -> None:
    plain = setup(receive_buffer_bytes=1 << 20)
    assert words(plain) == (
        "--bind 198.18.0.1 --threads 2 --msg-bytes 65536 --cpus 0,1"
        " --sndbuf-bytes 0 --rcvbuf-bytes 1048576 --congestion cubic,reno --nodelay kernel"
        " --io-timeout-ms 10000"
    )
    receiver = words(plain, "receiver")
    assert receiver.startswith("--connect 198.18.0.1 --threads 2")
    assert "--cpus 1,0" in receiver
    free = replace(plain, placement=Placement((0, 1), (0, 1), pinned=False))
    assert "--cpus" not in words(free) + words(free, "receiver")


@pytest.mark.parametrize(
    ("changed", "ring_bytes", "option"),
    [
        (setup(), 4096, " --ring-bytes 4096"),
        (setup(replace(CELL, implementation="sendmmsg_x16")), 0, " --batch 16"),
        (setup(fresh=True), 0, " --fresh"),
    ],
)
def test_what_is_asked_of_the_messages_goes_to_the_sender_alone(
    changed: Setup, ring_bytes: int, option: str
) -> None:
    assert option in words(changed, ring_bytes=ring_bytes)
    assert option not in words(changed, "receiver", ring_bytes)


def test_nobody_connects_to_a_sink_s_sender() -> None:
    options = words(setup(replace(CELL, testbed="sink")))
    assert "--connect 198.18.0.2 --port 9 " in options
    assert "--transport datagram" in options
    assert options.endswith(" --sink")
    for option in ("--bind", "--congestion", "--nodelay"):
        assert option not in options
    received = setup(replace(CELL, testbed="veth_udp"))
    assert "--bind 198.18.0.1" in words(received)
    assert "--transport datagram" in words(received, "receiver")


def test_both_sides_of_round_trips_know_and_send_without_delay() -> None:
    asks = setup(mode="request_response", interval_ns=50_000)
    assert "--interval-ns 50000" in words(asks)
    assert "--interval-ns" not in words(asks, "receiver")
    for side in ("sender", "receiver"):
        assert "--mode request_response" in words(asks, side)
        assert "--nodelay on" in words(asks, side)
    assert "--nodelay off" in words(setup(mode="request_response", tcp_nodelay="off"))
