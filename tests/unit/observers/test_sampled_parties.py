"""Whose samples are whose: a hypervisor's threads, and what a guest does besides its sides.

The samples of an emulator and of a guest are captured; those of KVM are composed, since no host
with hardware virtualisation was at hand (tests/data/perf_script/README.md).
"""

from pathlib import Path

import pytest

from copycost.observers.sampled_parties import besides, of_hypervisor
from copycost.perf.stacks import Sampled, Thread, read_samples
from copycost.studies.profile.functions import load_categories, load_data_path

ROOT = Path(__file__).parents[3]
SAMPLES = ROOT / "tests/data/perf_script"
FUNCTIONS = ROOT / "data/functions"
EMULATED = "virtual CPUs_[e]"
LOOP = "main loop and I/O_[h]"


def read(name: str, *, hypervisor: bool = False) -> Sampled:
    path = SAMPLES / name
    with path.open("rb") as file:
        return read_samples(file, name, of_hypervisor if hypervisor else None)


def stacks(sampled: Sampled) -> list[tuple[str, ...]]:
    return [tuple(stack.split(";")) for one in sampled.processes.values() for stack in one.weights]


def test_what_an_emulator_runs_in_user_mode_is_the_guest() -> None:
    found = stacks(read("perf_6.1_qemu_tcg.txt", hypervisor=True))
    assert (EMULATED, "[unknown]_[e]") in found
    assert (EMULATED, "cpu_exec_[e]") in found
    assert (LOOP, "__memmove_avx512_unaligned_erms_[h]") in found


def test_callers_in_user_mode_are_left_out_and_those_in_the_kernel_kept() -> None:
    thread = Thread("CPU 0/TCG", 7, 8)
    stack = "[unknown]_[k];[unknown];__libc_write;do_syscall_64_[k];eventfd_write_[k]"
    assert of_hypervisor(thread, stack) == f"{EMULATED};do_syscall_64_[k];eventfd_write_[k]"
    assert of_hypervisor(thread, "[unknown]_[k];[unknown]") == f"{EMULATED};[unknown]_[e]"


@pytest.mark.parametrize(
    ("name", "frame"),
    [
        ("CPU 1/KVM", "virtual CPUs_[h]"),
        ("ALL CPUs/TCG", EMULATED),
        ("IO iothread1", LOOP),
        ("vhost-7", "vhost_[h]"),
        ("call_rcu", "other threads_[h]"),
    ],
)
def test_each_kind_of_thread_has_a_frame_of_its_own(name: str, frame: str) -> None:
    assert of_hypervisor(Thread(name, 7, 8), "f").split(";")[0] == frame


def test_the_parts_of_a_kvm_host_are_told_apart() -> None:
    categories, path = load_categories(FUNCTIONS), load_data_path(FUNCTIONS)
    found = {
        stack[-1]: (stack[0], categories.of_stack(stack), path.of_stack("qemu", stack)[0])
        for stack in stacks(read("perf_6.8_qemu_kvm.txt", hypervisor=True))
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
