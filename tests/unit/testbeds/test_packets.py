"""Packets of a datagram, and what is left of a link's speed for its payload."""

import pytest

from copycost.hosts.local import LocalHost
from copycost.hosts.side import SIDES
from copycost.testbeds.links import packets_of, payload_share
from copycost.testbeds.testbed import Testbed


@pytest.mark.parametrize(
    ("msg_bytes", "mtu_bytes", "packets"),
    [(64, 1500, 1), (1472, 1500, 1), (1473, 1500, 2), (2952, 1500, 2), (2953, 1500, 3),
     (65507, 1500, 45), (65507, 65535, 1), (65507, 65521, 2)],
)  # fmt: skip
def test_packets_that_carry_a_datagram(msg_bytes: int, mtu_bytes: int, packets: int) -> None:
    assert packets_of(msg_bytes, mtu_bytes) == packets


def test_headers_leave_the_payload_its_share_of_a_link() -> None:
    assert payload_share(1472, 1500) == pytest.approx(1472 / 1538)
    assert payload_share(1, 1500) == pytest.approx(1 / 84)  # a frame has a least size
    assert payload_share(2952, 1500) == pytest.approx(2952 / (2 * 1538))


def test_only_datagrams_keep_to_what_the_link_carries() -> None:
    sides = dict.fromkeys(SIDES, LocalHost())
    for kind, bits_per_s, limit in (
        ("wire_udp", 10**9, pytest.approx(125e6 * 1472 / 1538)),
        ("wire_udp", None, None),
        ("wire", 10**9, None),
    ):
        bed = Testbed(kind, "host", sides, ("", ""), 1500, {}, udp_bits_per_s=bits_per_s)
        assert bed.payload_limit(1472) == limit
