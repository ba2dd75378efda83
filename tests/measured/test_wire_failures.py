"""What goes wrong over a wire is a record with one sentence and a remedy, and the run goes on.

What ssh refuses is in test_ssh.py; strangers are in test_wire.py.
"""

import copy
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from measured import repetitions
from measured.repetitions import FACTS, AtStart, assert_told, attempted, measured
from measured.test_wire import STREAM, with_wire
from programs import add_program, until
from sshd import ADDRESSES, Peer

from copycost.cli.doctor import command
from copycost.cli.doctor.findings_wire import judge_wire
from copycost.cli.doctor.peer import collect_peer
from copycost.config.cells import Cell
from copycost.config.wire import Wire
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import NamespaceHost
from copycost.hosts.side import Side, SideName
from copycost.hosts.ssh import host as ssh_host
from copycost.hosts.window_edges import ClockReading
from copycost.measure.repetition import measure_repetition
from copycost.studies.cpu_budget.records import measure_budget

pytestmark = [pytest.mark.needs_root, pytest.mark.usefixtures("our_daemon")]

KINDS = ("wire", "wire_in")
OLD_PERF = "#!/bin/sh\necho 'Error: unknown option `control' >&2\nexit 129\n"


@pytest.fixture(scope="module")
def facts(facts: dict[str, Any]) -> dict[str, Any]:
    return {"wire": facts["wire"], "identity": facts["identity"], **FACTS}


def test_a_side_that_dies_there_is_named_as_it_is_here(
    tmp_path: Path, peer: Peer, facts: dict[str, Any]
) -> None:
    kill = AtStart(lambda sides: sides["receiver"].programs[0].signal(9))
    record = attempted(tmp_path, STREAM, kill, peer=facts)
    assert_told(record, "failed", "the receiver was killed by SIGKILL during the window")
    assert peer.programs() == []


def test_a_clock_that_jumps_within_the_window_fails_it(
    tmp_path: Path, facts: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def jump(sides: Mapping[SideName, Side]) -> None:
        host = sides["receiver"].host
        before = host.clock_offset_ns
        monkeypatch.setattr(host, "resync", lambda: ClockReading(before + 5_000_000, 1000))

    record = attempted(tmp_path, STREAM, AtStart(jump), peer=facts)
    assert_told(record, "failed", "")
    assert re.match(
        r"the clock of \S+ went 5 ms away from ours, where the window is \d+ ms",
        str(record["reason"]),
    )


@pytest.mark.parametrize(("what", "said"), [("link", " "), ("machine", "the connection to")])
def test_a_connection_that_is_lost_is_a_failed_record_and_the_run_goes_on(
    tmp_path: Path, peer: Peer, facts: dict[str, Any], what: str, said: str
) -> None:
    def lose(_: object) -> None:
        if what == "machine":
            peer.reboot()
        else:
            peer.here.run(["ip", "link", "set", "sender", "down"])

    began_s = time.monotonic()
    record = attempted(tmp_path, STREAM, AtStart(lose), peer=facts)
    assert_told(record, "failed", said, " ")
    assert time.monotonic() - began_s < 30
    peer.here.run(["ip", "link", "set", "sender", "up"])
    until(lambda: peer.programs() == [], 6.0)
    measured(tmp_path, STREAM, peer=facts)


@pytest.mark.parametrize(
    ("section", "changed", "said"),
    [
        ("wire", {"there": {"address": "203.0.113.7"}}, "at 203.0.113.7 (Cannot assign"),
        ("identity", {"kernel_release": "5.10-before"}, "and ran Linux 5.10-before #"),
    ],
)
def test_a_machine_that_is_not_as_it_was_described_is_not_measured(
    tmp_path: Path, facts: dict[str, Any], section: str, changed: dict[str, Any], said: str
) -> None:
    described = copy.deepcopy(facts)
    for name, value in changed.items():
        is_part = isinstance(value, dict)
        described[section][name] = described[section][name] | value if is_part else value
    record = attempted(tmp_path, STREAM, peer=described)
    assert_told(record, "failed", said, "delete its file in results/peers")


def test_a_machine_that_stays_away_is_waited_for_once_and_what_needs_it_has_failed(
    tmp_path: Path,
    facts: dict[str, Any],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ssh_host, "_COMES_BACK_S", 2.0)
    options = [*facts["wire"]["ssh_options"], "-p", "9", "-o", "ControlPath=none"]
    away = with_wire(facts, ssh_options=options)
    for is_said in (True, False):
        record = attempted(tmp_path, STREAM, peer=away)
        assert_told(record, "failed", "Connection refused", "start sshd there")
        assert ("waiting, for" in capfd.readouterr().err) is is_said


def test_a_machine_that_executes_nothing_where_programs_are_put_is_told_before_a_run(
    peer: Peer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wire = Wire(peer.target.name, "auto", peer.target.options)
    monkeypatch.setattr(command, "read_peer", lambda *_: wire)
    with peer.cache_on("noexec") as cache:
        assert command.main(["--wire", wire.peer]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert f"executes nothing in {cache}/copycost/programs (Permission denied)" in said
    assert "> mount it there without noexec" in said
    assert command.main(["--wire", wire.peer]) == 0


def test_the_turn_of_another_there_is_waited_for_said_and_recorded(
    tmp_path: Path, peer: Peer, facts: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    peer.run_inside("mkdir", "-p", "/run/lock")
    inside = ("nsenter", "--target", str(peer.first()), "--pid", "--mount")
    hold = ("flock", "/run/lock/copycost.lock", "sh", "-c", "echo held; exec sleep 6")
    with subprocess.Popen([*inside, *hold], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        record = measured(tmp_path, STREAM, peer=facts)
    assert record["lock_wait_s"] >= 1.0
    assert "lock_waited" in [one["code"] for one in record["warnings"]]
    assert f"another measurement runs on {peer.target.name}: waiting" in capfd.readouterr().err


def test_a_full_disk_there_is_named_with_what_is_needed(
    tmp_path: Path, peer: Peer, facts: dict[str, Any]
) -> None:
    with peer.cache_on("size=160k"):  # the agent fits
        peer.target.close()  # with the agent, which brought them before
        record = attempted(tmp_path, STREAM, peer=facts)
    assert_told(record, "failed", "No space left on device", "make room for")
    assert peer.programs() == []


def test_a_perf_that_does_not_work_there_costs_its_counters_only(
    tmp_path: Path, peer: Peer, facts: dict[str, Any]
) -> None:
    old = add_program(peer.folder / "perf", OLD_PERF)
    events = {"task_clock": {"perf_name": "task-clock", "status": "supported", "reason": None}}
    perf = {"path": str(old), "status": "available", "reason": None, "events": events}
    record = measured(tmp_path, STREAM, peer={**facts, "perf": perf})
    seen = record["observed"]["perf_stat"]
    assert "unknown option" in str(seen)


@contextmanager
def firewall(host: NamespaceHost) -> Iterator[None]:
    """Drop what asks a machine for a TCP connection at any port but those of its services."""
    drop = "add table inet f; add chain inet f i {type filter hook input priority 0;};"
    drop += " add rule inet f i tcp dport 1024-65535 tcp flags & (syn | ack) == syn drop"
    done = host.run(["nft", "-f", "-"], drop)
    if done.returncode != 0:
        pytest.skip(f"no firewall can be set up here: {done.stderr}")
    try:
        yield
    finally:
        host.run(["nft", "delete", "table", "inet", "f"])


def test_a_firewall_between_is_noticed_and_named(
    tmp_path: Path, peer: Peer, facts: dict[str, Any]
) -> None:
    task = repetitions.task(tmp_path, STREAM, peer=facts)
    with firewall(peer.here):
        record = measure_repetition(
            replace(task, driver=repetitions.driver(STREAM, io_timeout_s=2.0))
        )
    remedy = "let TCP connections from the receiver's machine in on"
    assert_told(record, "failed", "connect", remedy)


@pytest.mark.parametrize(("shut", "kind", "other"), [("here", *KINDS), ("there", *KINDS[::-1])])
def test_way_that_a_firewall_shuts_is_skipped_with_what_lets_it_through(
    tmp_path: Path, peer: Peer, shut: str, kind: str, other: str
) -> None:
    with firewall(peer.here if shut == "here" else peer.there):
        found = collect_peer(Wire(peer.target.name, "auto", peer.target.options))
        record = attempted(tmp_path, replace(STREAM, testbed=kind), peer=found)
        measured(tmp_path, replace(STREAM, testbed=other), peer=found)
    assert_told(record, "skipped", "", "allow TCP connections from 198.18.0.")
    assert "results/peers" in record["remedy"]
    wire = [one for one in judge_wire(found, found, LocalHost()) if one.section == "Wire"]
    assert [one.name for one in wire if one.state == "missing"] == [f"connection {shut}"]


def test_an_address_that_is_not_reached_from_there_is_named(tmp_path: Path, peer: Peer) -> None:
    peer.here.run(["ip", "address", "add", "10.9.9.9/32", "dev", "lo"])
    route = ["ip", "route", "replace", f"{ADDRESSES[1]}/32", "dev", "sender", "src", "10.9.9.9"]
    assert peer.here.run(route).returncode == 0
    # ssh itself goes the usual way
    options = (*peer.target.options, "-b", ADDRESSES[0])
    found = collect_peer(Wire(peer.target.name, ADDRESSES[1], options))
    peer.here.run(["ip", "route", "delete", f"{ADDRESSES[1]}/32"])
    record = attempted(tmp_path, replace(STREAM, testbed="wire_in"), peer=found)
    assert_told(record, "skipped", "knows no route to 10.9.9.9", "wire.address")


def test_a_limit_that_the_other_machine_cannot_set_is_named_with_its_name(
    tmp_path: Path, peer: Peer, facts: dict[str, Any]
) -> None:
    cell = Cell("cpu_budget", "wire_in", "two_copy", 65536, 1, limiter="cgroup", limit_percent=30)
    # a /sys of its own hides their mounts
    record = attempted(tmp_path, cell, measure=measure_budget, peer=facts)
    reason = f"{peer.target.name}: no control group for CPU may be made ("
    cure = "mount them with the cpu controller, writable, or set cpu_budget.limiters to [cpulimit]"
    assert_told(record, "skipped", reason, cure)
    assert peer.programs() == []


def test_a_machine_of_another_architecture_is_refused(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_host, "_START", ssh_host._START.replace("$p -I", "setarch i686 $p -I"))
    wire: Any = collect_peer(Wire(peer.target.name, "auto", peer.target.options))["wire"]
    assert "is a machine of architecture i686" in wire["unavailable"]["reason"]
    assert "its architecture" in wire["unavailable"]["remedy"]
