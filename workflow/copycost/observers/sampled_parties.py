"""Whose a sample is: of a side, of the rest of its guest, or of a thread of its hypervisor."""

from collections import Counter
from collections.abc import Collection
from itertools import takewhile

from copycost.observers.hypervisor import ThreadKind, kind_of
from copycost.perf.stacks import (
    EMULATOR_MARK,
    HYPERVISOR_MARK,
    KERNEL_MARK,
    Sampled,
    Stacks,
    Thread,
)

_TITLES: dict[ThreadKind, str] = {
    "vcpu": "virtual CPUs",
    "io": "main loop and I/O",
    "vhost": "vhost",
    "worker": "other threads",
}
# ends the name of a virtual CPU's thread where QEMU runs the guest's instructions by itself
_EMULATED = "/TCG"
# the kernel's own threads of a CPU that has nothing to do
_IDLE_PID = 0
# what is in the stack of an interrupt that came while the CPU was idle
_INTERRUPTS = ("interrupt", "sysvec", "softirq", "_irq")


def of_hypervisor(thread: Thread, stack: str) -> str:
    """Return a stack of a hypervisor below its kind of thread, a frame in user mode marked.

    Under an emulator, what a virtual CPU's thread does in user mode is to run the guest.

    QEMU has no frame pointers, and what it translates has none, so callers in user mode are
    invented: of a sample in the kernel the kernel's frames are kept, of another one the innermost.
    """
    kind = kind_of(thread.name, is_first=thread.pid == thread.tid)
    emulates = kind == "vcpu" and thread.name.endswith(_EMULATED)
    mark = EMULATOR_MARK if emulates else HYPERVISOR_MARK
    innermost_first = stack.split(";")[::-1]
    kernel = list(takewhile(lambda frame: frame.endswith(KERNEL_MARK), innermost_first))
    known = kernel or [f"{innermost_first[0]}{mark}"]
    return ";".join((f"{_TITLES[kind]}{mark}", *reversed(known)))


def besides(sampled: Sampled, pids: Collection[int]) -> Stacks:
    """Return what a whole machine did besides some processes, while it was not idle."""
    found = Stacks()
    for pid, stacks in sampled.processes.items():
        if pid not in pids:
            found.add(_busy(stacks) if pid == _IDLE_PID else stacks)
    return found


def _busy(idle: Stacks) -> Stacks:
    """Return the interrupts of the idle task; each sample of the timer has the same weight."""
    weights = Counter(
        {
            stack: weight
            for stack, weight in idle.weights.items()
            if any(word in stack for word in _INTERRUPTS)
        }
    )
    samples = round(idle.samples * weights.total() / idle.weight) if idle.weight else 0
    return Stacks(weights, samples)
