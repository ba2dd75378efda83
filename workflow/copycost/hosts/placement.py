"""Which CPUs each side runs on: given by the config, or spread over the physical cores.

Placement is part of the method: where the scheduler puts the two sides moves the throughput of
small messages by a factor of two.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from copycost.errors import ConfigError
from copycost.hosts.host import Host
from copycost.wording.cpulist import format_cpu_list, parse_cpu_list


@dataclass(frozen=True, slots=True)
class Placement:
    """CPU numbers per side; thread i is pinned to number i modulo their count."""

    sender_cpus: tuple[int, ...]
    receiver_cpus: tuple[int, ...]


Siblings = Callable[[int], tuple[int, ...]]
"""Returns the CPUs that share something with a CPU, itself included."""


def siblings_on(host: Host) -> Siblings:
    """Return what tells the CPUs of a physical core.

    A kernel that does not tell leaves each CPU a core of its own.
    """

    def siblings(cpu: int) -> tuple[int, ...]:
        path = f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        return _cpus(host.files.text(path)) or (cpu,)

    return siblings


def cache_sharers_on(host: Host) -> Siblings:
    """Return what tells the CPUs that share a last-level cache.

    None where the kernel does not tell; then all CPUs count as sharing one.
    """

    def sharers(cpu: int) -> tuple[int, ...]:
        folders = host.files.glob(f"sys/devices/system/cpu/cpu{cpu}/cache/index[0-9]*")
        levels = {host.files.number(f"{folder}/level") or 0: folder for folder in folders}
        if not levels:
            return ()
        return _cpus(host.files.text(f"{levels[max(levels)]}/shared_cpu_list"))

    return sharers


def _cpus(text: str | None) -> tuple[int, ...]:
    try:
        return tuple(parse_cpu_list(text or ""))
    except ValueError:
        return ()


def fewest_at_once(
    cpus: Sequence[int],
    n_threads: int,
    sharers: Siblings,
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


def spread_by_core(allowed: Iterable[int], siblings: Siblings) -> Placement:
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


def place(
    host: Host, sender_cpus: Sequence[int] | None, receiver_cpus: Sequence[int] | None
) -> Placement:
    """Return where each side runs on a host; None asks for the automatic one.

    Raises
    ------
    ConfigError
        If the config names a CPU on which this process may not run.
    """
    allowed = host.usable_cpus()
    automatic = spread_by_core(allowed, siblings_on(host))
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
