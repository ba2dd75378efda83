"""Which CPUs each side runs on: given by the config, or spread over the physical cores.

Placement is part of the method: where the scheduler puts the two sides moves the throughput of
small messages by a factor of two.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from copycost.errors import ConfigError
from copycost.wording.cpulist import format_cpu_list, parse_cpu_list


@dataclass(frozen=True, slots=True)
class Placement:
    """CPU numbers per side; thread i is pinned to number i modulo their count."""

    sender_cpus: tuple[int, ...]
    receiver_cpus: tuple[int, ...]


def read_siblings(cpu: int) -> tuple[int, ...]:
    """Return the CPUs that share a physical core with `cpu`, itself included.

    A kernel that does not tell leaves each CPU a core of its own.
    """
    path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return tuple(parse_cpu_list(path.read_text())) or (cpu,)
    except (OSError, ValueError):
        return (cpu,)


def read_cache_sharers(cpu: int) -> tuple[int, ...]:
    """Return the CPUs that share their last-level cache with `cpu`, itself included.

    Empty where the kernel does not tell; then all CPUs count as sharing one.
    """
    folders = Path(f"/sys/devices/system/cpu/cpu{cpu}/cache").glob("index[0-9]*")
    try:
        levels = {int((folder / "level").read_text()): folder for folder in folders}
        return tuple(parse_cpu_list((levels[max(levels)] / "shared_cpu_list").read_text()))
    except (OSError, ValueError):
        return ()


def fewest_at_once(
    cpus: Sequence[int],
    n_threads: int,
    sharers: Callable[[int], tuple[int, ...]] = read_cache_sharers,
) -> int:
    """Return how many threads of one side run at once on the last-level cache with the fewest.

    Parameters
    ----------
    cpus : sequence of int
        Thread i is pinned to number i modulo their count.
    n_threads : int
        Threads of that side.
    sharers : callable
        Returns the CPUs that share a CPU's last-level cache, the same for each of them.
    """
    used = {cpus[i % len(cpus)] for i in range(n_threads)}
    return min(Counter(sharers(cpu) for cpu in used).values())


def spread_by_core(
    allowed: Iterable[int], siblings: Callable[[int], tuple[int, ...]] = read_siblings
) -> Placement:
    """Put the two ends of every connection on different physical cores, and use all cores.

    The cores are halved. The sender takes the CPUs of the first half, then those of the second;
    the receiver begins with the second half. So few connections have sending cores and receiving
    cores of their own, and many load both halves alike: on veth and loopback the sender does much
    of the receiver's work, and with one half for each side the receiver's half would idle.
    Within a half every core comes once before any comes twice. A single core is divided by its
    hardware threads; a single CPU serves both sides.
    """
    cpus = sorted(set(allowed))
    core_of = {cpu: siblings(cpu) for cpu in cpus}
    if len(set(core_of.values())) == 1:
        core_of = {cpu: (cpu,) for cpu in cpus}
    cores: dict[tuple[int, ...], list[int]] = {}
    for cpu in cpus:
        cores.setdefault(core_of[cpu], []).append(cpu)
    half = (len(cores) + 1) // 2
    first = _spread(list(cores.values())[:half])
    order = first + _spread(list(cores.values())[half:])
    # Turning the order by one half parts the ends, except for cores of several hardware threads
    # in an odd number: then the nearest turn that does.
    for turn in sorted(range(len(order)), key=lambda turn: abs(turn - len(first))):
        turned = order[turn:] + order[:turn]
        if all(core_of[a] != core_of[b] for a, b in zip(order, turned, strict=True)):
            return Placement(order, turned)
    return Placement(order, order[len(first) :] + first)


def _spread(cores: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Order the CPUs of several cores: the first thread of each core, then the second, ..."""
    rounds = max((len(core) for core in cores), default=0)
    return tuple(core[i] for i in range(rounds) for core in cores if i < len(core))


def place(sender_cpus: Sequence[int] | None, receiver_cpus: Sequence[int] | None) -> Placement:
    """Return where each side runs; None asks for the automatic one.

    Raises
    ------
    ConfigError
        If the config names a CPU on which this process may not run.
    """
    allowed = os.sched_getaffinity(0)
    automatic = spread_by_core(allowed)
    return Placement(
        _allowed_only("sender", sender_cpus, allowed) or automatic.sender_cpus,
        _allowed_only("receiver", receiver_cpus, allowed) or automatic.receiver_cpus,
    )


def _allowed_only(side: str, cpus: Sequence[int] | None, allowed: set[int]) -> tuple[int, ...]:
    wrong = [cpu for cpu in cpus or () if cpu not in allowed]
    if wrong:
        raise ConfigError(
            f"config.yaml: measure.cpus.{side}: got CPU {wrong[0]}, must be one of "
            f"{format_cpu_list(allowed)}, on which this process may run; change the list or write "
            "auto"
        )
    return tuple(cpus or ())
