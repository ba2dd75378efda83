"""What was sampled: call stacks by process with their weight, and the marks behind names."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

KERNEL_MARK = "_[k]"
"""Ends the name of a frame of the kernel, as in the flame graphs that others draw."""

INLINED_MARK = "_[i]"
"""Ends the name of a frame that the compiler has put into its caller."""

EMULATOR_MARK, HYPERVISOR_MARK = "_[e]", "_[h]"
"""End the names of frames of a hypervisor in user mode: where it runs a guest's instructions by
itself, and elsewhere."""

UNKNOWN = "[unknown]"
"""What perf calls an address that belongs to no known function."""


@dataclass(frozen=True, slots=True)
class Thread:
    """Who a sample is of: the thread's name, its process, and itself."""

    name: str
    pid: int
    tid: int


@dataclass(slots=True)
class Stacks:
    """The call stacks of one process.

    By stack (frames from the outermost in, joined by ``;``) `weights` has the sum of the periods:
    nanoseconds of CPU time for the timer, cycles for the cycle counter.
    """

    weights: Counter[str] = field(default_factory=Counter)
    samples: int = 0

    @property
    def weight(self) -> int:
        """The weight of all samples together."""
        return self.weights.total()

    def add(self, other: "Stacks") -> None:
        """Take in the stacks of another process."""
        self.samples += other.samples
        self.weights.update(other.weights)


@dataclass(slots=True)
class Sampled:
    """Everything that was read, by process id.

    What the kernel could not hand over is counted by its two records of that. A text is truncated
    where it ends within a sample, which was left out.
    """

    processes: defaultdict[int, Stacks] = field(default_factory=lambda: defaultdict(Stacks))
    lost_records: int = 0
    lost_samples: int = 0
    truncated: bool = False

    @property
    def lost(self) -> int:
        """Samples that the kernel could not hand over [count].

        From Linux 6.0 and perf 6.1 on, what found no room in the buffer is told in both records.
        """
        return max(self.lost_records, self.lost_samples)

    @property
    def samples(self) -> int:
        """Samples of all processes [count]."""
        return sum(stacks.samples for stacks in self.processes.values())

    def of(self, pids: Iterable[int]) -> Stacks:
        """Return the stacks of some processes together; none where they were never on a CPU."""
        together = Stacks()
        for pid in pids:
            if pid in self.processes:
                together.add(self.processes[pid])
        return together
