"""Which cells can exist, and that what a strategy can do is read from its source."""

from pathlib import Path

import pytest

from copycost.build import toolchain
from copycost.config.strategy_capabilities import (
    BOTH,
    MAX_DATAGRAM_BYTES,
    RECEIVERS,
    STREAM,
    Capability,
    can_exist,
    capability_of,
    declared,
    split_implementation,
)

ROOT = Path(__file__).parents[3]


def test_an_implementation_is_a_strategy_and_its_messages_per_call() -> None:
    names = ("two_copy", "sendmmsg_x16", "my_x2_way", "my_x2_x4")
    parts = [("two_copy", 1), ("sendmmsg", 16), ("my_x2_way", 1), ("my_x2", 4)]
    assert [split_implementation(name) for name in names] == parts


@pytest.mark.parametrize(
    ("implementation", "testbed", "msg_bytes", "receiver", "exists"),
    [
        ("two_copy", "veth", 4 << 20, "recv", True),
        ("two_copy", "sink", MAX_DATAGRAM_BYTES + 1, "recv", False),
        ("two_copy", "sink", 4096, "trunc", False),  # nothing receives there
        ("two_copy", "veth_udp", 4096, "trunc", True),
        ("two_copy", "veth_udp", 4096, "mmap", False),
        ("two_copy_x2", "veth", 4096, "recv", False),
        ("sendmmsg_x257", "veth", 1, "recv", False),
        ("udp_gso", "veth", 4096, "recv", False),
        ("udp_gso_x16", "sink", 4094, "recv", True),
        ("udp_gso_x16", "sink", 4096, "recv", False),  # 65536 bytes are no datagram
        ("iperf3", "veth", 1 << 20, "recv", True),
        ("iperf3", "veth_udp", 4096, "trunc", False),
    ],
)
def test_cells_that_cannot_exist(
    implementation: str, testbed: str, msg_bytes: int, receiver: str, exists: bool
) -> None:
    assert can_exist(implementation, testbed, msg_bytes, receiver) == exists


def test_every_receiver_has_its_row() -> None:
    assert set(toolchain.receivers(ROOT)) == set(RECEIVERS)


def test_how_the_declaration_is_laid_out_does_not_matter() -> None:
    source = """
        /* const struct strategy the_strategy = { .batching = true, }; */
        struct strategy const the_strategy = {.name="mine",
          .transports=TRANSPORT_STREAM|TRANSPORT_DATAGRAM, // .zero_copy = true,
          .batching =true}
        ;"""
    assert declared(source) == Capability(BOTH, batching=True)
    assert declared("const struct strategy the_strategy = {.transports = TRANSPORT_STREAM};") == (
        Capability(STREAM)
    )
    assert declared("int main(void) { return 0; }") is None
    for strategy in toolchain.strategies(ROOT):
        assert capability_of(strategy).transports, strategy
