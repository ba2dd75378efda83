"""Over the network to another machine, a real sshd's: described, measured, and cut off."""

import re
import shutil
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from measured.failures_support import host_facts
from measured.repetitions import (
    SETTINGS,
    assert_told,
    attempted,
    measured,
    needs_iperf3,
    require_limits,
    task,
)
from programs import until
from sshd import ADDRESSES, AHEAD_S, Peer
from workflow.support import new_checkout

from copycost.cli.doctor.findings_wire import judge_wire
from copycost.cli.doctor.peer import collect_peer
from copycost.config.cells import Cell
from copycost.config.wire import Wire
from copycost.hosts.local import LocalHost
from copycost.hosts.program import Launch
from copycost.hosts.remote.connection import Connection
from copycost.hosts.remote.messages import Message
from copycost.hosts.side import SIDES
from copycost.hosts.ssh.host import SshHost
from copycost.hosts.testbeds.drop_hook import far_hook
from copycost.observers.kernel_counters import LossCounters
from copycost.observers.process_usage import ProcessUsage
from copycost.records.derive import derive_row
from copycost.records.record import check_record, host_digest
from copycost.studies.cpu_budget.records import measure_budget
from copycost.studies.cpu_budget.records import row_of as budget_row
from copycost.studies.datagrams import records as datagrams
from copycost.studies.profile.repetition import profile_repetition
from copycost.studies.round_trips.table import derive_round_trips
from tools.recompute.tables import wrong_tables

pytestmark = [pytest.mark.needs_root, pytest.mark.usefixtures("our_daemon")]

STREAM = Cell("streams", "wire", "two_copy", 65536, 2)
LONGER = replace(SETTINGS, duration_s=0.7)
ASKING = replace(SETTINGS, mode="request_response")


def with_wire(facts: dict[str, Any], **changed: object) -> dict[str, Any]:
    """Return facts with other settings of the wire."""
    return {**facts, "wire": facts["wire"] | changed}


def test_the_other_machine_and_the_way_to_it_are_described(
    peer: Peer, facts: dict[str, Any]
) -> None:
    wire = facts["wire"]
    assert wire["unavailable"] is None
    assert (wire["here"]["address"], wire["there"]["address"]) == ADDRESSES
    assert (wire["here"]["device"], wire["there"]["device"]) == ("sender", "receiver")
    assert wire["there"]["mtu_bytes"] == 1500
    assert wire["there"]["speed_mbit_per_s"] is None  # a veth says 10000, which it is not
    assert facts["identity"]["kernel_release"] == facts["kernel"]["release"]
    assert wire["one_kernel"]  # its namespaces are of this machine
    assert wire["unreached"] == {"here": None, "there": None}
    assert wire["there"]["scatter_gather"] in (True, None)
    assert facts["perf"]["status"] in ("available", "missing", "forbidden")
    found = {(one.section, one.name): one for one in judge_wire(facts, facts, LocalHost())}
    assert found["Wire", "connection here"].state == "ok"
    assert found["Wire", "connection there"].state == "ok"
    assert found["Wire", "clock"].value.startswith("known to ")
    assert found["The other end", "device"].value == "receiver"
    assert found["This end", "zero-copy"].state == "limited"  # a veth is no network card
    assert ("The other end: kernel", "release") in found
    ourselves = collect_peer(Wire(peer.target.name, "127.0.0.1", peer.target.options))["wire"]
    assert "loopback device" in ourselves["unavailable"]["reason"]


# so often the other machine may be asked; at 1 ms each it shall cost less than 0.1 s
@pytest.mark.parametrize(("kind", "most_asked"), [("wire", 40), ("wire_in", 60)])
def test_bytes_are_measured_over_the_wire_both_ways(
    tmp_path: Path,
    peer: Peer,
    facts: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    most_asked: int,
) -> None:
    asked: list[str] = []
    begin = Connection.begin

    def counted(self: Connection, message: Message) -> int:
        asked.append(str(message["op"]))
        return begin(self, message)

    monkeypatch.setattr(Connection, "begin", counted)
    record = measured(tmp_path, replace(STREAM, testbed=kind), peer=facts)
    assert 0 < len(asked) < most_asked, Counter(asked)
    away, home = ("receiver", "sender") if kind == "wire" else ("sender", "receiver")
    machine = record["testbed"]["machines"][away]
    assert (machine["kind"], machine["name"]) == ("ssh", peer.target.name)
    assert abs(machine["clock_offset_ns"] - AHEAD_S * 10**9) <= machine["clock_uncertainty_ns"]
    assert record["testbed"]["machines"][home]["kind"] == "local"
    assert machine["facts_digest"] == host_digest(facts)
    # in our own clock, whatever the other's is
    assert record["start_ns"] < record["window"]["start_ns"] < record["end_ns"]
    starts_ns = {side: record["driver"][side]["window"]["start_ns"] for side in SIDES}
    assert abs(starts_ns[away] - starts_ns[home] - AHEAD_S * 10**9) < 0.1e9
    row = derive_row(record)
    assert row["throughput_bits_per_s"] > 1e7
    for side in SIDES:
        kernel = record["observed"]["kernel"]["machines"][side]
        assert kernel["at_ns"] > 0
        assert kernel["busy_ns"] > 0
        assert row[f"{side}_machine_cpu_ns_per_byte"] > 0
        assert row[f"{side}_device_rx_dropped"] >= 0
    assert peer.programs() == []


@pytest.mark.parametrize(("kind", "sender"), [("wire_udp", "two_copy"), ("wire_in_udp", "iperf3")])
def test_datagrams_keep_to_the_link_and_are_all_accounted_for(
    tmp_path: Path, facts: dict[str, Any], kind: str, sender: str
) -> None:
    if sender == "iperf3" and not shutil.which("iperf3"):
        pytest.skip("iperf3 is not installed")
    limited = with_wire(facts, udp_mbit_per_s=40)
    cell = Cell("datagrams", kind, sender, 1400, 2)
    # iperf3 runs for whole seconds: of two, half of one is left for a machine that is busy
    observers = ProcessUsage(), LossCounters()
    record = measured(tmp_path, cell, *observers, settings=LONGER, peer=limited)
    row = datagrams.row_of(record, cell)
    assert row["sent"] > 100
    assert row["drained"]
    assert row["lost_unaccounted"] == 0
    share = 1400 / (1400 + 28 + 38)
    # what was held up catches up; without a limit it would be a hundred times as much
    assert row["sent_bits_per_s"] <= 40e6 * share * 3
    assert row["rate_limit_bits_per_s"] == pytest.approx(40e6 * share, rel=1e-6)


def rules(peer: Peer) -> str:
    """Return the rules of nftables there, or skip."""
    done = peer.there.run(["nft", "list", "ruleset"])
    if done.returncode != 0:
        pytest.skip("no nftables here")
    return done.stdout


# what has to be sent in fragments is copied by the kernel at once (net/ipv4/ip_output.c)
@pytest.mark.parametrize(("msg_bytes", "n_packets"), [(1400, 1), (4000, 3)])
def test_what_is_dropped_there_on_arrival_costs_the_sender_alone(
    tmp_path: Path, peer: Peer, facts: dict[str, Any], msg_bytes: int, n_packets: int
) -> None:
    rules(peer)  # skips where there is no nftables
    cell = Cell("streams", "wire_sink", "zero_copy", msg_bytes, 2)
    limited = with_wire(facts, udp_mbit_per_s=100)
    record = measured(tmp_path, cell, peer=limited)
    found = record["driver"]["sink"]
    assert found["sent_datagrams"] > 100
    assert found["lost_before_hook"] == 0
    assert found["dropped_packets"] == n_packets * found["dropped_datagrams"]
    row = derive_row(record)
    assert row["zc_copied"] == (0 if n_packets == 1 else row["zc_completed"])
    assert row.get("receiver_cpu_ns") is None
    assert rules(peer) == ""


def test_the_hook_goes_with_the_connection(peer: Peer) -> None:
    rules(peer)  # skips where there is no nftables
    with SshHost(peer.target) as other, far_hook(other, "receiver", ADDRESSES):
        assert "owner" in rules(peer)
        peer.here.run(["ip", "link", "set", "sender", "down"])
        try:
            until(lambda: rules(peer) == "", 5.0)
        finally:
            peer.here.run(["ip", "link", "set", "sender", "up"])


def test_round_trips_over_the_wire_have_percentiles(tmp_path: Path, facts: dict[str, Any]) -> None:
    cell = Cell("round_trips", "wire", "two_copy", 1024, 1)
    record = measured(tmp_path, cell, settings=ASKING, peer=facts)
    assert record["driver"]["sender"]["round_trip"]["p99_ns"] > 0
    row = derive_round_trips(record)
    for side in ("sender", "receiver"):
        whole = row[f"{side}_machine_cpu_ns_per_round_trip"]
        assert isinstance(whole, float)
        assert whole > row[f"{side}_machine_softirq_cpu_ns_per_round_trip"] >= 0  # type: ignore[operator]


@needs_iperf3
def test_a_limit_holds_where_the_receiver_is_elsewhere(
    tmp_path: Path, facts: dict[str, Any]
) -> None:
    cell = Cell("cpu_budget", "wire", "iperf3", 65536, 1, limiter="cgroup", limit_percent=30)
    record = attempted(tmp_path, cell, measure=measure_budget, peer=facts)
    require_limits(record)
    row = budget_row(record, cell)
    assert 0 < row["sender_cpu_percent"] < 45
    assert row["receiver_cpu_percent"] > 0
    assert row["bits_per_s"] > 0


@pytest.mark.needs_perf
def test_each_machine_is_sampled_by_its_own_perf(tmp_path: Path, facts: dict[str, Any]) -> None:
    ours = host_facts(shutil.which("perf"))
    ours["perf"] |= {"version": "6", "paranoid": -1, "user_only": False, "remedy": None}
    peer = {**ours, **{name: facts[name] for name in ("wire", "identity")}}
    peer["perf"] = {**ours["perf"], "version": "7"}
    cell = Cell("profile", "wire", "two_copy", 65536, 1, rep=2)
    found = profile_repetition(task(tmp_path, cell, facts=ours, peer=peer), "auto", 999)
    record = check_record(found.record, "record")
    assert record["status"] == "measured", record["reason"]
    assert record["observed"]["sampling"]["perf_version"] == "6, 7"
    assert any("tcp_sendmsg" in stack for stack in found.stacks["sender"].weights)
    assert any("tcp_recvmsg" in stack for stack in found.stacks["receiver"].weights)
    for side in SIDES:
        counted = record["observed"]["perf_stat"][side]
        assert counted["status"] == "counted", counted["reason"]
        assert counted["events"]["task_clock_ns"]["value"] > 0


STRANGER = """
import socket, sys
while True:
    for port in range(5301, 5304):
        try:
            with socket.create_connection(("198.18.0.1", port), 1, (sys.argv[1], 0)) as one:
                one.sendall(b"GET / HTTP/1.0" * 4)
        except OSError:
            pass
"""


def test_strangers_cost_little_and_are_named(
    tmp_path: Path, peer: Peer, facts: dict[str, Any]
) -> None:
    peer.there.run(["ip", "address", "add", "198.18.0.9/32", "dev", "receiver"])
    peer.here.run(["ip", "route", "add", "198.18.0.9/32", "via", ADDRESSES[1]])
    stranger = peer.there.start(
        Launch((sys.executable, "-c", STRANGER, "198.18.0.9"), sys.executable)
    )
    in_range = with_wire(facts, ports=[5301, 5303])
    for _ in range(5):  # one may come too late to be met
        record = measured(tmp_path, STREAM, peer=in_range)
        told = [one["detail"] for one in record["warnings"] if one["code"] == "unknown_peers"]
        if told:
            break
    assert re.match(r"dropped \d+ from 198\.18\.0\.9, the last one because", told[0])
    held = [socket.create_server((ADDRESSES[0], port)) for port in range(5301, 5304)]
    record = attempted(tmp_path, STREAM, peer=in_range)
    for one in held:
        one.close()
    stranger.end()
    stranger.close()
    assert_told(record, "failed", "port 5303: Address already in use", "wire.ports")


def test_the_tiny_grid_is_measured_with_another_machine_that_is_gone_for_seconds(
    tmp_path: Path, peer: Peer
) -> None:
    checkout = new_checkout(tmp_path / "checkout")
    one = {"peer": peer.target.name, "ssh_options": list(peer.target.options)}
    checkout.configure("wire", **one, alias="near", more=[{**one, "alias": "far"}])
    words = ("--cores", "1", "--configfile", "config/wire_tiny.yaml")
    said = tmp_path / "said"

    def die_until_missed() -> None:
        while len(list(checkout.path.glob("results/raw/**/rep=*.json"))) < 2:
            time.sleep(0.05)
        peer.sshd.kill()
        # not for some seconds: a run that waits for the host's lock meanwhile misses nobody
        until = time.monotonic() + 50.0
        while "waiting, for" not in said.read_text() and time.monotonic() < until:
            time.sleep(0.05)
        peer.reboot()

    dying = threading.Thread(target=die_until_missed, daemon=True)
    dying.start()
    # in processes of our own, which are in the network that we are in
    into_file = ("sh", "-c", 'exec "$@" >"$0" 2>&1', said)
    checkout.call([*into_file, *checkout.command("measure", *words)])
    dying.join(60.0)
    first = Counter(one["status"] for one in checkout.records())
    assert "is back: going on" in said.read_text()
    assert first["measured"] >= 6, first
    assert first["skipped"] == 0
    again = checkout.call(checkout.command(*words))
    if first["failed"]:
        assert "failed with another machine or in a guest are made again" in again.stdout
    records = checkout.records()
    assert Counter(one["cell"]["testbed"] for one in records) == {"wire-near": 4, "wire-far": 4}
    assert [(one["status"], one["reason"]) for one in records if one["status"] != "measured"] == []
    for record in records:
        assert record["testbed"]["machines"]["receiver"]["kind"] == "ssh"
        # what is brought needs no library there; what runs here is built as everywhere
        built = [derive_row(record)[f"{side}_build"] for side in ("sender", "receiver")]
        assert [" -static" in flags for flags in built] == [False, True]
    assert (checkout.path / "results/report/report.html").exists()
    assert peer.programs() == []
    assert checkout.planned("--configfile", "config/wire_tiny.yaml") == {}
    report = (checkout.path / "results/report/report.html").read_text()
    assert "the network to near" in report
    assert "the network to far" in report
    written = (checkout.path / "results/report/report.qmd").read_text()
    assert re.findall(r"Both ends of the network to `(\w+)`", written) == ["near", "far"]
    assert "(@tbl-wire-ends, @tbl-wire-ends-far)" in written
    assert list(wrong_tables(checkout.path / "results")) == []
    # the other's results stay where it is not asked for
    checkout.configure("wire", **one, alias="far", more=[])
    again = checkout.planned("--configfile", "config/wire_tiny.yaml")
    assert not {"run_cell", "collect_peer"}.intersection(again)
    assert len(checkout.records()) == 8


@needs_iperf3
def test_iperf3_takes_a_port_that_is_free_there(
    tmp_path: Path, peer: Peer, facts: dict[str, Any]
) -> None:
    # somebody else's, at its usual port
    held = peer.there.start(Launch(("iperf3", "-s"), "iperf3"))
    measured(tmp_path, replace(STREAM, implementation="iperf3"), peer=facts)
    held.end()
    held.close()


@contextmanager
def one_in_fifty_lost(peer: Peer, protocol: str) -> Iterator[Callable[[], int]]:
    """Have the network lose packets, counted by nobody but us; yield what tells how many."""
    rule = f"meta l4proto {protocol} numgen inc mod 50 == 49 counter drop"
    chain = "chain i { type filter hook ingress device receiver priority 0; }"
    done = peer.there.run(
        ["nft", "-f", "-"], f"table netdev lossy {{ {chain}; }}\nadd rule netdev lossy i {rule}\n"
    )
    if done.returncode != 0:
        pytest.skip(f"no packets can be lost here: {done.stderr}")
    try:
        yield lambda: int(str(re.search(r"counter packets (\d+)", rules(peer))[1]))  # type: ignore[index]
    finally:
        peer.there.run(["nft", "delete", "table", "netdev", "lossy"])


def test_datagrams_that_the_network_loses_are_explained_by_neither_machine(
    tmp_path: Path, peer: Peer, facts: dict[str, Any]
) -> None:
    limited = with_wire(facts, udp_mbit_per_s=40)
    cell = Cell("datagrams", "wire_udp", "two_copy", 1400, 1)
    with one_in_fifty_lost(peer, "udp") as lost:
        record = measured(tmp_path, cell, ProcessUsage(), LossCounters(), peer=limited)
        n_lost = lost()
    row = datagrams.row_of(record, cell)
    assert n_lost > 10
    # welcomes and goodbyes that are lost are said again
    assert n_lost - 2 <= row["lost_unaccounted"] <= n_lost
    assert row["lost_device"] == 0


def test_segments_that_the_network_loses_are_sent_again_and_counted(
    tmp_path: Path, peer: Peer, facts: dict[str, Any]
) -> None:
    with one_in_fifty_lost(peer, "tcp") as lost:
        record = measured(tmp_path, STREAM, peer=facts)
        assert lost() > 0
    assert derive_row(record)["tcp_retransmits"] > 0  # type: ignore[operator]
