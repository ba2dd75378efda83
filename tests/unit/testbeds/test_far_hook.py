"""The hook at another machine's device: its rules, its counters, and what refuses it."""

import shutil

import pytest

from copycost.errors import ParseError, Unavailable
from copycost.hosts.local import LocalHost
from copycost.testbeds.drop_hook import Dropped, parse_counter
from copycost.testbeds.far_hook import far_hook, far_rules, parse_counters

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


def test_only_what_we_send_to_the_sink_is_dropped() -> None:
    (line,) = far_rules("copycost_1", "eth0", ADDRESSES).splitlines()
    assert line.count("ip saddr 198.18.0.1 ip daddr 198.18.0.2") == 2
    assert line.count("drop;") == 2
    assert "udp dport 9 counter name datagrams" in line
    assert "flags owner" in line


def test_headers_are_no_payload() -> None:
    found = parse_counters(LISTING)
    assert (found.packets, found.payload_bytes) == (30, 15000 - 10 * 28 + 25400 - 20 * 20)
    with pytest.raises(ParseError, match="nft list counters: found"):
        parse_counters("table netdev x { }")
    own = "table netdev copycost {\n\tcounter dropped {\n\t\tpackets 3 bytes 384\n\t}\n}\n"
    assert parse_counter(own) == Dropped(packets=3, payload_bytes=300)


@pytest.mark.skipif(not shutil.which("nft"), reason="nft is not installed")
def test_a_machine_that_refuses_says_why() -> None:
    # for want of rights, or of such a name
    refused = pytest.raises(Unavailable, match=r"refused the hook: .*Error")
    with refused as error, far_hook(LocalHost(), 'no"device', ADDRESSES):
        pass
    assert "let ssh reach root there" in error.value.remedy
