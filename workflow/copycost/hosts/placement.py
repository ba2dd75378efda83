"""Which CPUs each side runs on, as the cell's placement says: of all CPUs, or of the config's."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from copycost.config.testbeds import FREE, SAME
from copycost.errors import ConfigError, Unavailable
from copycost.hosts.host import Host
from copycost.hosts.side import SIDES, SideName
from copycost.wording.numbers import format_cpu_list


@dataclass(frozen=True, slots=True)
class Placement:
    """CPU numbers per side; thread i is pinned to number i modulo their count.

    Where nothing is pinned, the scheduler moves threads among the numbers of their side.
    """

    sender_cpus: tuple[int, ...]
    receiver_cpus: tuple[int, ...]
    pinned: bool = True

    def cpus(self, side: SideName) -> tuple[int, ...]:
        """Return the CPU numbers of a side."""
        return self.sender_cpus if side == "sender" else self.receiver_cpus

    def mask(self, side: SideName) -> frozenset[int] | None:
        """Return the CPUs among which the scheduler may move a side; None where it is pinned."""
        return None if self.pinned else frozenset(self.cpus(side))


Siblings = Callable[[int], tuple[int, ...]]
"""Returns the CPUs that share something with a CPU, itself included."""

_CPUS = "sys/devices/system/cpu"


def siblings_on(host: Host) -> Siblings:
    """Return what tells the CPUs of a physical core.

    A kernel that does not tell leaves each CPU a core of its own.
    """
    lists = host.files.cpu_lists([f"{_CPUS}/cpu[0-9]*/topology/thread_siblings_list"])

    return lambda cpu: tuple(lists.get(f"{_CPUS}/cpu{cpu}/topology/thread_siblings_list") or [cpu])


def cache_sharers_on(host: Host) -> Siblings:
    """Return what tells the CPUs that share a last-level cache.

    None where the kernel does not tell; then all CPUs count as sharing one.
    """

    def sharers(cpu: int) -> tuple[int, ...]:
        folder = f"{_CPUS}/cpu{cpu}/cache"
        levels = host.files.texts([f"{folder}/index[0-9]*/level"])
        if not levels:
            return ()
        outermost = max(levels, key=lambda path: levels[path] or "")
        return tuple(host.files.cpus(outermost.replace("/level", "/shared_cpu_list")) or ())

    return sharers


def fewest_at_once(placement: Placement, n_threads: int, sharers: Siblings) -> int:
    """Return how many senders run at once on the last-level cache with the fewest.

    One, where the scheduler may leave a cache to a single one of them.
    """
    if not placement.pinned:
        return 1
    cpus = placement.sender_cpus
    used = {cpus[i % len(cpus)] for i in range(n_threads)}
    return min(Counter(sharers(cpu) for cpu in used).values())


def spread_by_core(allowed: Iterable[int], siblings: Siblings) -> Placement:
    """Put the two ends of every connection on different physical cores, and use all cores.

    The sender takes the CPUs of one half of the cores, then those of the other, where the receiver
    begins. So few connections have sending and receiving cores of their own, and many load both
    halves alike: on veth and loopback the sender does much of the receiver's work, and a half for
    the receiver alone would idle. Within a half every core comes once before any comes twice. A
    single core is divided by its hardware threads; a single CPU serves both sides.
    """
    cores = _cores(allowed, siblings)
    if len(cores) == 1:
        cores = [(cpu,) for cpu in cores[0]]
    core_of = {cpu: core for core in cores for cpu in core}
    half = (len(cores) + 1) // 2
    first = _spread(cores[:half])
    order = first + _spread(cores[half:])
    # Turning the order by one half parts the ends, except for cores of several hardware threads in
    # an odd number, or of different ones: then the nearest turn that does.
    for turn in sorted(range(len(order)), key=lambda turn: abs(turn - len(first))):
        turned = order[turn:] + order[:turn]
        if all(core_of[a] != core_of[b] for a, b in zip(order, turned, strict=True)):
            return Placement(order, turned)
    # Core by core, whoever is as far away as the largest core is large is on another one, unless
    # that has more than half of the CPUs.
    by_core = [cpu for core in cores for cpu in core]
    away = max(map(len, cores))
    partner = dict(zip(by_core, by_core[away:] + by_core[:away], strict=True))
    return Placement(order, tuple(partner[cpu] for cpu in order))


def _cores(allowed: Iterable[int], siblings: Siblings) -> list[tuple[int, ...]]:
    """Return the CPUs grouped by physical core, both in ascending order."""
    cores: dict[tuple[int, ...], list[int]] = {}
    for cpu in sorted(set(allowed)):
        cores.setdefault(siblings(cpu), []).append(cpu)
    return [tuple(core) for core in cores.values()]


def _spread(cores: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Order the CPUs of several cores: the first thread of each core, then the second, ..."""
    rounds = max((len(core) for core in cores), default=0)
    return tuple(core[i] for i in range(rounds) for core in cores if i < len(core))


def place_sides(
    hosts: Mapping[SideName, Host],
    placement: str,
    sender_cpus: Sequence[int] | None,
    receiver_cpus: Sequence[int] | None,
) -> Placement:
    """Return where each side runs: on its own machine, or as `place` says on one that both share.

    On a machine of its own a side has all CPUs, core after core, unless a list says which.
    """
    machines = {side: hosts[side].machine for side in SIDES}
    if machines["sender"] is machines["receiver"]:
        return place(machines["sender"], placement, sender_cpus, receiver_cpus)
    if placement == SAME:
        raise Unavailable(
            "both ends of a connection cannot run on one CPU where they are on two machines",
            "take the placement same out of config.yaml for this testbed",
        )
    cpus = []
    for (side, machine), given in zip(machines.items(), (sender_cpus, receiver_cpus), strict=True):
        allowed = machine.usable_cpus()
        listed = _allowed_only(side, given, allowed)
        cpus.append(listed or _spread(_cores(allowed, siblings_on(machine))))
    return Placement(cpus[0], cpus[1], pinned=placement != FREE)


def place(
    host: Host,
    placement: str,
    sender_cpus: Sequence[int] | None,
    receiver_cpus: Sequence[int] | None,
) -> Placement:
    """Return where each side runs on a machine that both share.

    The placement ``apart`` puts the two ends of every connection on different cores, of all cores,
    or on those of the lists in turn; ``same`` puts both ends of a connection on one CPU,
    connections in turn on all, or on those of both lists; ``free`` pins nothing. A side without a
    list may use all CPUs, but where both are to be apart rather not the cores of the other's list.
    ConfigError if a list names a CPU on which this process may not run.
    """
    allowed, siblings = host.usable_cpus(), siblings_on(host)
    senders = _allowed_only("sender", sender_cpus, allowed)
    receivers = _allowed_only("receiver", receiver_cpus, allowed)
    if placement == FREE:
        every = tuple(sorted(allowed))
        return Placement(senders or every, receivers or every, pinned=False)
    if placement == SAME:
        every = _spread(_cores(allowed, siblings))
        shared = tuple(dict.fromkeys((*senders, *receivers))) or every
        return Placement(shared, shared)
    automatic = spread_by_core(allowed, siblings)
    if not senders and not receivers:
        return automatic
    taken = {other for cpu in senders or receivers for other in siblings(cpu)}
    elsewhere = _spread(_cores(allowed - taken, siblings))
    return Placement(
        senders or elsewhere or automatic.sender_cpus,
        receivers or elsewhere or automatic.receiver_cpus,
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
