"""Datagrams: their packets, a link's speed for their payload, and the hook that drops them."""

import shutil

import pytest

from copycost.errors import ParseError, Unavailable
from copycost.hosts.local import LocalHost
from copycost.hosts.side import SIDES
from copycost.hosts.testbeds.drop_hook import far_hook, parse_counters
from copycost.hosts.testbeds.links import packets_of, payload_share
from copycost.hosts.testbeds.testbed import Testbed

ADDRESSES = ("198.18.0.1", "198.18.0.2")
LISTING = """\
table netdev copycost_1 {
\tcounter datagrams {
\t\tpackets 10 bytes 15000
\t}
\tcounter fragments {
\t\tpackets 20 bytes 25400
\t}
}
"""


def test_headers_are_no_payload() -> None:
    found = parse_counters(LISTING)
    assert (found.packets, found.payload_bytes) == (30, 15000 - 10 * 28 + 25400 - 20 * 20)
    with pytest.raises(ParseError, match="nft list counters: found"):
        parse_counters("table netdev x { }")


@pytest.mark.skipif(not shutil.which("nft"), reason="nft is not installed")
def test_a_machine_that_refuses_says_why() -> None:
    # for want of rights, or of such a name
    refused = pytest.raises(Unavailable, match=r"refused the hook: .*Error")
    with refused as error, far_hook(LocalHost(), 'no"device', ADDRESSES):
        pass
    assert "let ssh reach root there" in error.value.remedy


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
