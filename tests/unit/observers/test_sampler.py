"""perf record beside running processes: whether it is allowed, what it samples, and whose that is.

Captured are the samples of an emulator and of a guest; those of KVM are composed, since no host
with hardware virtualisation was at hand (tests/data/perf_script/README.md).
"""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from setups import HOST
from unit.hosts.places import running

from copycost.errors import HostError, Unavailable
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.side import Side
from copycost.hosts.testbeds.testbed import Guest, Testbed
from copycost.observers.perf.stacks import Sampled, Thread, read_samples
from copycost.observers.sampler import (
    Sampler,
    SamplingPlan,
    besides,
    is_privileged,
    of_hypervisor,
    plan_sampling,
)
from copycost.studies.profile.functions import load_lists

PERF = shutil.which("perf")
_BUSY = (sys.executable, "-c", "while True: sum(range(20000))")


@pytest.fixture
def busy() -> Iterator[Side]:
    with running(*_BUSY) as program:
        yield Side("sender", HOST, [program])


def sampler(path: str, event: str = "cpu-clock:u") -> Sampler:
    return Sampler(lambda _: SamplingPlan(path, "6", event, 499), n_threads=1)


@pytest.mark.parametrize(
    ("script", "why"), [(None, "No such file"), ("echo 'Denied by policy' >&2; exit 255", "Denied")]
)
def test_a_perf_that_cannot_sample_is_a_failure_with_its_last_words(
    tmp_path: Path, busy: Side, script: str | None, why: str
) -> None:
    perf = tmp_path / "perf"
    if script is not None:
        perf.write_text(f"#!/bin/sh\n{script}\n")
        perf.chmod(0o755)
    with closing(sampler(str(perf))) as samples:
        samples.attach([busy])
        samples.window_begins()
        samples.window_ends()
        samples.traffic_ends([busy])
        with pytest.raises(HostError, match=why):
            samples.found()
        assert samples.stacks == {}


@pytest.mark.skipif(PERF is None, reason="perf is not installed")
@pytest.mark.needs_root
@pytest.mark.slow
def test_a_guest_is_sampled_as_a_whole_and_its_hypervisor_from_outside(busy: Side) -> None:
    """This machine stands for the guest, and a program that keeps busy for its hypervisor."""
    assert PERF is not None
    with running(*_BUSY) as hypervisor, closing(sampler(PERF, "cpu-clock")) as samples:
        guest = Guest("guest a", ("sender",), HOST, hypervisor.pid)
        testbed = cast("Testbed", SimpleNamespace(guests=(guest,)))
        samples.open(HOST)
        samples.prepare(testbed)
        samples.attach([busy])
        if samples.failure:
            pytest.skip(f"perf may not sample here: {samples.failure}")
        samples.window_begins()
        time.sleep(0.5)
        samples.window_ends()
        samples.traffic_ends([busy])
        found = samples.found()
        stacks = samples.stacks
    assert list(stacks) == ["sender", "sender_guest", "sender_qemu"]
    assert list(found["sides"]) == list(stacks)
    assert all(one.samples > 0 for one in stacks.values())
    outside = stacks["sender_qemu"]
    assert all(stack.startswith("main loop and I/O_[h];") for stack in outside.weights)
    # the program that stands for the hypervisor runs on the machine that stands for the guest
    assert stacks["sender_guest"].samples >= 0.5 * outside.samples


SHOWN = "ffffffff81000000 T _stext\n"
HIDDEN = "0000000000000000 T _stext\n0000000000000000 T _text\n"


def host(**changes: object) -> dict[str, Any]:
    perf = {
        **{"status": "available", "reason": None, "remedy": None, "user_only": False},
        **{"path": "/usr/bin/perf", "version": "6.1", "paranoid": 1},
        "events": {"cycles": {"status": "supported"}},
    }
    return {"perf": {**perf, **changes}}


@pytest.fixture
def files(tmp_path: Path) -> HostFiles:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "kallsyms").write_text(SHOWN)
    return HostFiles(tmp_path)


NO_COUNTER = host(events={"cycles": {"status": "not_supported"}})


def test_the_cycle_counter_is_preferred_unless_there_is_none_or_the_timer_is_asked_for(
    files: HostFiles,
) -> None:
    for facts, asked, event, source in (
        (host(), "auto", "cycles", "hardware"),
        (host(), "cpu_clock", "cpu-clock", "timer"),
        (NO_COUNTER, "auto", "cpu-clock", "timer"),
    ):
        plan = plan_sampling(facts, asked, 999, files)
        assert (plan.event, plan.source, plan.frequency_hz) == (event, source, 999)


NO_PERF = host(status="missing", reason="no perf", remedy="install it")


@pytest.mark.parametrize(
    ("facts", "kallsyms", "reason", "remedy"),
    [
        (NO_COUNTER, SHOWN, "no cycle counter", "cpu_clock"),
        (NO_PERF, SHOWN, "no perf", "install it"),
        (host(user_only=True, paranoid=2), SHOWN, "paranoid is 2", "perf_event_paranoid=1"),
        (host(), HIDDEN, "kptr_restrict", "kptr_restrict"),
        (host(), "", "kptr_restrict", "kptr_restrict"),
    ],
)
def test_what_cannot_be_sampled_is_told_with_a_remedy(
    files: HostFiles, facts: dict[str, Any], kallsyms: str, reason: str, remedy: str
) -> None:
    (files.root / "proc" / "kallsyms").write_text(kallsyms)
    with pytest.raises(Unavailable, match=reason) as caught:
        plan_sampling(facts, "cycles", 999, files)
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("uids", "uid_map", "privileged"),
    [
        ("0 0 0 0", "0 0 4294967295", True),
        ("1000 1000 1000 1000", "0 0 4294967295", False),
        ("0 1000 0 1000", "0 0 4294967295", False),  # the effective one counts
        ("0 0 0 0", "0 1000 1", False),  # root of a user namespace
    ],
)
def test_large_buffers_are_for_root_outside_of_user_namespaces(
    tmp_path: Path, uids: str, uid_map: str, privileged: bool
) -> None:
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "self" / "status").write_text(f"Name:\tpython\nUid:\t{uids}\n")
    (tmp_path / "proc" / "self" / "uid_map").write_text(uid_map)
    assert is_privileged(HostFiles(tmp_path)) is privileged


ROOT = Path(__file__).parents[3]
EMULATED = "virtual CPUs_[e]"
LOOP = "main loop and I/O_[h]"


def read(name: str, *, hypervisor: bool = False) -> Sampled:
    with (ROOT / "tests/data/perf_script" / name).open("rb") as file:
        return read_samples(file, name, of_hypervisor if hypervisor else None)


def stacks_outside(name: str) -> list[tuple[str, ...]]:
    processes = read(name, hypervisor=True).processes.values()
    return [tuple(stack.split(";")) for one in processes for stack in one.weights]


def test_what_an_emulator_runs_in_user_mode_is_the_guest() -> None:
    found = stacks_outside("perf_6.1_qemu_tcg.txt")
    assert (EMULATED, "[unknown]_[e]") in found
    assert (EMULATED, "cpu_exec_[e]") in found
    assert (LOOP, "__memmove_avx512_unaligned_erms_[h]") in found


def test_callers_in_user_mode_are_left_out_and_those_in_the_kernel_kept() -> None:
    thread = Thread("CPU 0/TCG", 7, 8)
    stack = "[unknown]_[k];[unknown];__libc_write;do_syscall_64_[k];eventfd_write_[k]"
    assert of_hypervisor(thread, stack) == f"{EMULATED};do_syscall_64_[k];eventfd_write_[k]"
    assert of_hypervisor(thread, "[unknown]_[k];[unknown]") == f"{EMULATED};[unknown]_[e]"
    assert of_hypervisor(Thread("IO iothread1", 7, 8), "f").split(";")[0] == LOOP
    assert of_hypervisor(Thread("call_rcu", 7, 8), "f").split(";")[0] == "other threads_[h]"


def test_the_parts_of_a_kvm_host_are_told_apart() -> None:
    lists = load_lists(ROOT / "data")
    found = {
        stack[-1]: (
            stack[0],
            lists.categories.of_stack(stack),
            lists.data_path.of_stack("qemu", stack)[0],
        )
        for stack in stacks_outside("perf_6.8_qemu_kvm.txt")
    }
    vcpu = "virtual CPUs_[h]"
    assert found == {
        "vmx_vcpu_run_[k]": (vcpu, "kvm", "exits"),
        "eventfd_signal_mask_[k]": (vcpu, "events", "events"),
        "kvm_cpu_exec_[h]": (vcpu, "hypervisor", "hypervisor"),
        "do_sys_poll_[k]": (LOOP, "events", "events"),
        "copy_page_from_iter_[k]": ("vhost_[h]", "copy", "tap_copy_in"),
        "tun_net_xmit_[k]": ("vhost_[h]", "tap", "tap_queues"),
    }


def test_the_rest_of_a_guest_has_its_interrupts_and_threads_and_no_idleness() -> None:
    sampled = read("perf_6.1_guest_tcg.txt")
    (sender,) = (pid for pid in sampled.processes if pid not in (0, 14))
    assert len(sampled.processes[0].weights) == 2  # idle, and an interrupt that came meanwhile
    rest = besides(sampled, {sender})
    assert rest.samples == len(rest.weights) == 2
    assert all("softirq" in stack for stack in rest.weights)
    assert besides(sampled, {0, 14, sender}).samples == 0
