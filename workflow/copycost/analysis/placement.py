"""Which CPUs the threads of a run were pinned to, and how many threads share one."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from copycost.analysis.condition_view import View
from copycost.config.placements import FREE
from copycost.config.testbeds import kernels_on


@dataclass(frozen=True, slots=True)
class Placement:
    """CPU numbers of each side; thread i runs on number i modulo their count.

    Where nobody receives, the receiver has none.

    Attributes
    ----------
    sender, receiver
        Of each side.
    kernels
        On how many kernels the sides run: with 2, each numbers CPUs of its own.
    """

    sender: tuple[int, ...]
    receiver: tuple[int, ...]
    kernels: int = 1

    @property
    def n_cpus(self) -> int:
        """Return how many CPUs both sides have together."""
        return len({cpu for cpus in self._sides() for cpu in cpus})

    def threads_per_cpu(self, n_threads: int) -> int:
        """Return how many threads, of both sides, share the most crowded CPU."""
        return max(self._load(n_threads).values())

    def _load(self, n_threads: int) -> Counter[tuple[int, int]]:
        return Counter(
            cpus[i % len(cpus)] for cpus in self._sides() if cpus for i in range(n_threads)
        )

    def _sides(self) -> Iterator[list[tuple[int, int]]]:
        """Yield the CPUs of each side, each with the number of the kernel that it belongs to."""
        for side, cpus in enumerate((self.sender, self.receiver)):
            yield [(side % self.kernels, cpu) for cpu in cpus]


def placement_of(view: View) -> Placement | None:
    """Return where the threads ran; None where it varied, or where they were not pinned.

    Nor is it known of guests, whose virtual CPUs run on any of the machine's.
    """
    if view.studied.condition.placement == FREE or view.studied.guests:
        return None
    sides = ["sender_cpus", "receiver_cpus"][: 1 if view.sender_only else 2]
    pinned = view.measured[sides].drop_duplicates()
    if len(pinned) != 1:
        return None
    cpus = [
        tuple(int(digits) for digits in re.findall(r"\d+", str(text))) for text in pinned.iloc[0]
    ]
    if not all(cpus):
        return None
    kernels = kernels_on(view.studied.condition.testbed)
    return Placement(cpus[0], cpus[1] if len(cpus) > 1 else (), kernels)
