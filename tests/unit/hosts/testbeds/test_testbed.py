"""Real testbeds, built in a process of their own, and what is said where they cannot be."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from setups import HOST

from copycost.errors import HostError, Unavailable
from copycost.hosts import local
from copycost.hosts.facts.tools import run_tool
from copycost.hosts.testbeds.links import switch_offloads_off
from copycost.hosts.testbeds.testbed import open_testbed

ROOT = Path(__file__).parents[4]
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
# builds a testbed, sends one packet through it, and prints what it found
BUILD = """
import json, os, socket, sys
from pathlib import Path
from copycost.hosts.testbeds.testbed import open_testbed
home = os.readlink("/proc/self/ns/net")
fds = len(os.listdir("/proc/self/fd"))
with open_testbed(sys.argv[1], page_segments="pages" in sys.argv) as testbed:
    with testbed.hosts["receiver"].inside():
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        receiver.bind((testbed.addresses[1], 0))
        receiver.settimeout(60)
    with testbed.hosts["sender"].inside():
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sender.sendto(b"hello", receiver.getsockname())
        devices = Path("/proc/thread-self/net/dev").read_text().count(":")
    found = {"isolation": testbed.isolation, "mtu_bytes": testbed.mtu_bytes,
             "offloads": testbed.offloads, "got": receiver.recv(9).decode(), "devices": devices}
    sender.close(), receiver.close()
found["home"] = os.readlink("/proc/self/ns/net") == home
found["left_fds"] = len(os.listdir("/proc/self/fd")) - fds
print(json.dumps(found))
"""


# sends datagrams to a sink, by MSG_ZEROCOPY too, and prints what became of them
SINK = """
import json, socket, struct, sys
from copycost.measure.drivers.programs.driver import settle_sink
from copycost.hosts.testbeds.testbed import open_testbed
SO_ZEROCOPY, MSG_ZEROCOPY, UDP_SEGMENT = 60, 0x4000000, 103
with open_testbed("sink") as testbed:
    with testbed.hosts["sender"].inside():
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with testbed.hosts["receiver"].inside():
        peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        peer.bind((testbed.addresses[1], 9))
        peer.setblocking(False)
    sender.connect((testbed.addresses[1], 9))
    sender.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
    before = testbed.drop_hook.read()
    sizes = [1, 1000, 65507]
    copied = []
    for size in sizes:
        assert sender.send(bytes(size), MSG_ZEROCOPY) == size
        data = sender.recvmsg(1, 128, socket.MSG_ERRQUEUE)[1][0][2]
        copied.append(struct.unpack_from("IBBB", data)[3])
    plain = testbed.drop_hook.read_settled(sum(sizes))
    sender.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1000)
    sender.send(bytes(10000))
    segmented = testbed.drop_hook.read_settled(sum(sizes) + 10000)
    # as if seven datagrams more had been sent, which never came
    lost = settle_sink(testbed.drop_hook, [{"datagrams": 84, "bytes": sum(sizes) + 17000}], 1000)
    try:
        peer.recv(1)
        arrived = True
    except BlockingIOError:
        arrived = False
    print(json.dumps({"isolation": testbed.isolation,
        "mtu_bytes": testbed.mtu_bytes, "transport": testbed.transport, "arrived": arrived,
        "lost": lost,
        "copied": copied, "counts": [(d.packets, d.payload_bytes)
                                     for d in (before, plain, segmented)]}))
    sender.close(), peer.close()
"""


def build(kind: str, *before: str, script: str = BUILD, also: str = "") -> dict[str, Any]:
    done = subprocess.run(
        [*before, sys.executable, "-c", script, kind, also],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT / "workflow")},
    )
    if "copycost.errors.Unavailable" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_paths_are_as_their_names_say_and_leave_nothing() -> None:
    found = build("veth")
    assert found["got"] == "hello"
    assert found["devices"] == 2  # the sender's end and its own loopback
    assert found["mtu_bytes"] == 1500
    assert found["offloads"]["tso"] is True
    assert found["left_fds"] == 0
    assert found["home"] or os.geteuid() != 0
    found = build("loopback")
    assert (found["got"], found["isolation"], found["home"]) == ("hello", "host", True)
    assert build("veth", also="pages")["mtu_bytes"] == os.sysconf("SC_PAGE_SIZE") + 52
    assert build("veth_no_offload")["offloads"] == {"tso": False, "gso": False, "gro": False}
    largest = build("veth_udp")
    assert (largest["got"], largest["mtu_bytes"]) == ("hello", 65535)


@pytest.mark.parametrize("before", [(), NOBODY], ids=["as we are", "as an ordinary user"])
def test_the_sink_drops_and_counts_everything_and_copies_nothing(before: tuple[str, ...]) -> None:
    if before and os.geteuid() != 0:
        pytest.skip("only root can become another user")
    found = build("sink", *before, script=SINK)
    assert found["isolation"] == "user_namespace" or not before
    assert found["transport"] == "datagram"
    assert found["mtu_bytes"] == 65535
    assert not found["arrived"]
    assert found["copied"] == [0, 0, 0]
    # one packet that is still to be cut into ten datagrams is counted once, with all its bytes
    assert found["counts"] == [[0, 0], [3, 66508], [4, 76508]]
    assert found["lost"] == {
        "sent_datagrams": 84, "dropped_datagrams": 76, "lost_before_hook": 7,
        "dropped_packets": 4, "dropped_bytes": 76508,
    }  # fmt: skip


def test_a_missing_tool_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "search_path", lambda: "/nonexistent")
    with pytest.raises(Unavailable, match="ip was not found; install the package iproute2"):
        run_tool(["ip", "-batch", "-"], HOST)
    with pytest.raises(Unavailable, match="nft was not found; install the package nftables"):
        run_tool(["nft", "-f", "-"], HOST)
    with pytest.raises(Unavailable, match="ethtool was not found; install the package"):
        switch_offloads_off(HOST, "lo")
    with open_testbed("loopback") as testbed:  # which does without, and does not know them then
        assert testbed.offloads == {"tso": None, "gso": None, "gro": None}
        assert testbed.mtu_bytes == int(Path("/sys/class/net/lo/mtu").read_text())


def test_a_tool_that_fails_is_quoted_and_one_that_was_killed_is_no_lack(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="was killed by signal 9") as caught:
        run_tool(["sh", "-c", "kill -9 $$"], HOST)
    assert not isinstance(caught.value, Unavailable)
    with pytest.raises(Unavailable, match="exit status 3: no, never;"):
        run_tool(["sh", "-c", "echo no, never >&2; exit 3"], HOST)
    (tmp_path / "tool").write_text("")
    with pytest.raises(Unavailable, match="tool may not be executed; allow executing it"):
        run_tool([str(tmp_path / "tool")], HOST)
