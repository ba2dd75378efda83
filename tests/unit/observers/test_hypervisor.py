"""Threads of a hypervisor told apart, and what each kind, the guest and the machine have used."""

import sys
import time
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from setups import HOST, setup
from unit.hosts.places import running

from copycost.errors import HostError
from copycost.hosts.processes import CpuTimes, ThreadTimes, cpu_times_at, ticks_of, times_of
from copycost.hosts.side import SideName
from copycost.hosts.testbeds.testbed import Guest, Testbed
from copycost.observers.hypervisor import THREAD_KINDS, Hypervisor

SECOND_NS = 10**9
# one thread that spins as a virtual CPU would, one that sleeps as an idle I/O thread does, and
# workers that come and go
CODE = """
import threading, time
def named(name, work):
    def run():
        open(f"/proc/self/task/{threading.get_native_id()}/comm", "w").write(name)
        work()
    threading.Thread(target=run, daemon=True).start()
def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
named("IO io0", lambda: time.sleep(60))
named("CPU 0/KVM", lambda: spin(60))
while True:
    named("worker", lambda: spin(0.02))
    time.sleep(0.2)
"""
PRETENDER = (sys.executable, "-S", "-c", CODE)


def await_thread(pid: int, name: str) -> None:
    end_s = time.monotonic() + 5
    while time.monotonic() < end_s:
        names = [HOST.files.text(str(path)) for path in HOST.files.glob(f"proc/{pid}/task/*/comm")]
        if name in names:
            return
        time.sleep(0.01)
    raise AssertionError(f"no thread {name}, only {names}")


def with_guest(pid: int, *sides: SideName) -> Testbed:
    return replace(setup().testbed, guests=(Guest("the guest", sides, HOST, pid),))


def watched(pid: int, seconds: float) -> dict[str, Any]:
    """Return what is found of a process over some time."""
    with closing(Hypervisor()) as observer:
        observer.open(HOST)
        observer.prepare(with_guest(pid, "sender", "receiver"))
        now_ns = HOST.clock_ns()
        observer.window_planned(now_ns, now_ns + round(seconds * SECOND_NS))
        observer.window_begins()
        time.sleep(seconds)
        observer.window_ends()
        found = observer.found()
    assert found is not None
    return found


def test_each_kind_has_its_own_time_and_workers_have_the_rest() -> None:
    with running(*PRETENDER) as program:
        await_thread(program.pid, "CPU 0/KVM")
        found = watched(program.pid, 0.6)
    (guest,) = found["guests"]
    assert guest["sides"] == ["sender", "receiver"]
    assert (guest["accelerator"], guest["vcpu_threads"]) == ("kvm", 1)
    threads = guest["threads"]
    assert list(threads) == list(THREAD_KINDS)
    spun, window_ns = threads["vcpu"]["cpu_ns"], guest["window_ns"]
    # with a lot else on this machine it waits for a CPU, which is told too
    assert spun + threads["vcpu"]["waiting_ns"] > 0.6 * window_ns
    assert threads["io"]["cpu_ns"] < 0.1 * window_ns
    assert 0 < threads["worker"]["cpu_ns"] < spun + threads["vcpu"]["waiting_ns"]
    assert threads["worker"]["waiting_ns"] is None
    assert threads["vhost"]["cpu_ns"] == 0
    assert found["machine"]["busy_ns"] > 0.5 * spun


def test_a_hypervisor_that_does_not_name_its_threads_is_refused() -> None:
    with running("sleep", "60") as program, closing(Hypervisor()) as observer:
        observer.open(HOST)
        observer.prepare(setup().testbed)
        assert observer.found() is None  # without guests there is nothing to tell
        with pytest.raises(HostError, match="debug-threads=on"):
            observer.prepare(with_guest(program.pid, "sender"))


def test_a_hypervisor_that_ends_in_the_window_is_noticed() -> None:
    with running(*PRETENDER) as program, closing(Hypervisor()) as observer:
        await_thread(program.pid, "CPU 0/KVM")
        observer.open(HOST)
        observer.prepare(with_guest(program.pid, "sender"))
        observer.window_begins()
        program.end()
        with pytest.raises(HostError, match="the hypervisor of the guest, has ended"):
            observer.window_ends()


def test_a_task_of_the_kernel_that_copies_for_the_guest_counts_as_vhost() -> None:
    """Before Linux 6.4 vhost's threads are no threads of the process, only named after it."""
    with running(*PRETENDER) as program:
        await_thread(program.pid, "CPU 0/KVM")
        # a process with such a name stands for the kernel's task
        name = f"vhost-{program.pid}"
        task = f"open('/proc/self/comm', 'w').write('{name}')\nwhile True: pass"
        with running(sys.executable, "-S", "-c", task) as copying:
            await_thread(copying.pid, name)
            (guest,) = watched(program.pid, 0.3)["guests"]
    vhost = guest["threads"]["vhost"]
    assert vhost["cpu_ns"] + vhost["waiting_ns"] > 0.2 * SECOND_NS


def test_times_of_a_thread() -> None:
    # guest time is field 43; a name may hold parentheses
    fields = ["S", *map(str, range(4, 53))]
    text = f"17 (CPU 0/KVM) (x)) {' '.join(fields)}"
    assert ticks_of(text, 100) == (14 * 10**7, 15 * 10**7, 43 * 10**7)
    texts = {"proc/1/task/2/schedstat": "500 70 3", "proc/1/task/2/stat": text}
    found = times_of(["proc/1/task/2"], texts, 100)
    assert (found.cpu_ns, found.waiting_ns) == (500, 70)
    assert found - found == ThreadTimes()


def used_between(before: str, after: str) -> CpuTimes:
    """Return what was used within a second that began long after the machine."""
    edges = [(10**15, {"proc/stat": before}), (10**15 + SECOND_NS, {"proc/stat": after})]
    first, last = cpu_times_at(edges, 100)
    return last - first


def test_a_machine_is_busy_when_neither_idle_nor_stolen_from() -> None:
    """Of 2 CPUs over 1 s: 0.5 s idle, 0.1 s waiting for a disk, 0.2 s stolen."""
    before, cpus = "cpu  0 0 0 100 0 0 0 0 0 0", "\ncpu0 0\ncpu1 0"
    after = "cpu  90 0 20 150 10 3 7 20 0 0"
    assert used_between(f"{before}{cpus}\nintr 1", f"{after}{cpus}\nintr 1") == CpuTimes(
        SECOND_NS, busy_ns=12 * 10**8, task_ns=11 * 10**8, softirq_ns=10**8, steal_ns=2 * 10**8
    )
    # a CPU that comes or goes was not busy ever since
    for others in ("\ncpu0 0", f"{cpus}\ncpu2 0"):
        assert used_between(before + cpus, after + others).busy_ns <= 2 * SECOND_NS
