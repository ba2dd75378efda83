"""What measuring over ssh costs, with a real sshd in namespaces and a link of one millisecond."""

import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from copycost.config.cells import Cell
from copycost.config.settings import Settings
from copycost.config.wire import Wire
from copycost.doctor.peer import collect_peer
from copycost.errors import HostError
from copycost.hosts.ssh.client import SshTarget
from copycost.hosts.ssh.host import SshHost, kept_host
from copycost.measure.drivers.choice import driver_of
from copycost.measure.repetition import Task, measure_repetition
from tools.bench.another_machine import ADDRESSES, Peer, another_machine
from tools.bench.pair import Programs
from tools.bench.rows import Limit, Row, row_of_rounds

_DELAY_S = 0.0005
"""Each way."""

_OVERHEAD_LIMIT_S = Limit("at_most", 0.1)
_N_LINES = 100
_GROUP = "wire, 1 ms there and back"
_PROJECT = Path(__file__).parents[2]
_SETTINGS = Settings(warmup_s=0.05, duration_s=0.3, congestion_control="reno")
# no perf, which is the same on both testbeds
_FACTS: dict[str, Any] = {
    "cpu": {"caches": {"llc_bytes": None}},
    "kernel": {"irq_time_accounting": None},
    "perf": {
        "path": None,
        "status": "missing",
        "reason": "not asked for",
        "events": {},
    },
}


def wire_rows(rounds: int) -> Iterator[Row]:
    """Yield how long ssh takes to start, how well the clock is known, and a repetition's overhead.

    Raises
    ------
    HostError
        If another machine cannot be made here, or a repetition fails.
    """
    with tempfile.TemporaryDirectory(prefix="copycost-wire-") as name:
        folder = Path(name)
        programs = Programs(folder / "bin")
        programs.build(["two_copy"], _PROJECT)
        with another_machine(folder) as peer:
            target = _far(peer)
            yield from _session_rows(peer, target, rounds)
            facts = _in_child(partial(_peer_facts, target))
            yield from _overhead_rows(folder, programs, facts, rounds)


def _far(peer: Peer) -> SshTarget:
    """Return how ssh reaches a machine over a slow link."""
    paths = os.pathsep.join((str(_PROJECT / "workflow"), str(_PROJECT)))
    relay = f"env PYTHONPATH={paths} {sys.executable} -m tools.bench.delay %h %p {_DELAY_S}"
    return replace(peer.target, options=(*peer.target.options, "-o", f"ProxyCommand={relay}"))


def _peer_facts(target: SshTarget) -> dict[str, Any]:
    found = collect_peer(Wire(target.name, ADDRESSES[1], target.options))
    return {"wire": found["wire"], **_FACTS}


def _session_rows(peer: Peer, target: SshTarget, rounds: int) -> Iterator[Row]:
    """Yield the times of a session, alone and by the run's daemon, and how sure the clock is."""
    with SshHost(target):
        pass  # the agent is there from now on
    alone, kept, unsure, alive = [], [], [], []
    for _ in range(rounds):
        target.close()
        began_s = time.monotonic()
        with SshHost(target) as host:
            alone.append(time.monotonic() - began_s)
            unsure.append(host.clock_uncertainty_ns / 1e3)
            alive.append(_keep_alive_us(host, peer))
    for _ in range(rounds + 1):
        kept.append(_in_child(partial(_time_kept, target)))
    note = "CPU time of ssh, sshd and the helper; one a second is said"
    yield row_of_rounds(_GROUP, "a line that keeps the helper alive", alive, "us", note=note)
    note = "connection, agent and ten pings, from nothing"
    yield row_of_rounds(_GROUP, "start of ssh", alone, "s", note=note)
    note = "where the run has its agent already"
    yield row_of_rounds(_GROUP, "session of a repetition", kept[1:], "s", note=note)
    note = "half of the fastest of ten pings"
    yield row_of_rounds(_GROUP, "uncertainty of the clock", unsure, "us", note=note)


def _keep_alive_us(host: SshHost, peer: Peer) -> float:
    """Return the CPU time that a line costs which only says that somebody is there [us]."""
    networks = {_network_of(peer.sshd.pid), _network_of(threading.get_native_id())}
    before_ns = _used_ns(networks)
    for _ in range(_N_LINES):
        host.ssh.keep_alive()
        time.sleep(0.005)
    return (_used_ns(networks) - before_ns) / _N_LINES / 1e3


def _network_of(thread: int) -> Path:
    return Path(f"/proc/{thread}/ns/net").readlink()


def _used_ns(networks: Collection[Path]) -> int:
    """Return the CPU time so far of all that runs in some networks, but for us [ns]."""
    used_ns = 0
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is of the kernel
            if int(process.name) != os.getpid() and _network_of(int(process.name)) in networks:
                tasks = (process / "task").glob("*/schedstat")
                used_ns += sum(int(task.read_text().split()[0]) for task in tasks)
    return used_ns


def _time_kept(target: SshTarget) -> float:
    began_s = time.monotonic()
    with kept_host(target):
        pass
    return time.monotonic() - began_s


def _overhead_rows(
    folder: Path, programs: Programs, facts: dict[str, Any], rounds: int
) -> Iterator[Row]:
    """Yield what a repetition takes beside its window on either testbed, and the difference."""
    cell = Cell("streams", "veth", "two_copy", 65536, 1)
    driver = driver_of("two_copy", programs.sender("two_copy"), programs.receiver)
    taken: dict[str, list[float]] = {"veth": [], "wire": []}
    for _ in range(rounds + 1):
        for testbed, times in taken.items():
            peer = facts if testbed == "wire" else None
            one = replace(cell, testbed=testbed)
            task = Task(one, _SETTINGS, _FACTS, driver, lock_path=folder / "lock", peer=peer)
            times.append(_in_child(partial(_overhead_s, task)))
    for testbed, times in taken.items():
        yield row_of_rounds(_GROUP, f"overhead of a repetition, {testbed}", times[1:], "s")
    more = [wire - veth for veth, wire in zip(taken["veth"], taken["wire"], strict=True)][1:]
    yield row_of_rounds(_GROUP, "overhead over that of veth", more, "s", _OVERHEAD_LIMIT_S)


def _overhead_s(task: Task) -> float:
    record = measure_repetition(task)
    if record["status"] != "measured":
        raise HostError(f"bench: {task.cell.testbed}: {record['reason']}")
    return record["wall_s"] - _SETTINGS.warmup_s - _SETTINGS.duration_s


def _in_child(function: Callable[[], Any]) -> Any:  # noqa: ANN401 - JSON
    """Return what a function does in a process of its own, as each repetition has one.

    Raises
    ------
    HostError
        If it fails there.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(read)
            answer: dict[str, Any]
            try:
                answer = {"result": function()}
            except Exception as error:
                answer = {"error": str(error)}
            with os.fdopen(write, "w") as out:
                json.dump(answer, out)
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read) as answers:
        text = answers.read()
    os.waitpid(pid, 0)
    answer = json.loads(text or '{"error": "it died"}')
    if "error" in answer:
        raise HostError(f"bench: {answer['error']}")
    return answer["result"]
