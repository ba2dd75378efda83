"""What no value of the configuration says by itself: rules on several of them, and on the host."""

import itertools
import re
from collections.abc import Collection, Iterator
from dataclasses import fields
from typing import Any

from copycost.config.cells import kinds_of
from copycost.config.conditions import COLD, HOT
from copycost.config.config import Config
from copycost.config.sources import Surroundings
from copycost.config.strategy_capabilities import IPERF3, capability_of, split_implementation
from copycost.config.structure import Problem
from copycost.config.testbeds import APART, SAME, WIRES, Transport, guests_on, peer_of
from copycost.config.wire import NO_PEER
from copycost.wording.numbers import approximate_size, format_cpu_list, format_size
from copycost.wording.words import did_you_mean

TRANSPORTS: dict[str, Transport] = {
    "streams": "stream",
    "udp": "datagram",
    "round_trips": "stream",
}
GRIDS = tuple(TRANSPORTS)
_DRIVEN = ("cpu_budget", "datagrams")
_PLACED = (*GRIDS, "placement", "profile")

# what exports call machines that have no alias (copycost.compare.hosts.privacy)
_OF_EXPORTS = re.compile(r"other(-\d+)?")


def cross_problems(config: Config, around: Surroundings) -> Iterator[Problem]:
    """Yield every problem of a configuration whose values are sound, each by itself."""
    if not config.streams.implementations and not config.udp.implementations:
        yield ("streams", "implementations"), "got [], must list one where udp lists none either"
    unknown = list(_unknown_implementations(config, around.strategies))
    yield from unknown
    for section in (*GRIDS, "profile", *_DRIVEN):
        if not any(path[0] == section for path, _ in unknown):
            yield from _never_measured(section, getattr(config, section))
    for section in (*GRIDS[:2], "profile"):
        yield from _ring_problems(section, getattr(config, section), around.memory_bytes)
    for name in itertools.chain.from_iterable(config.profile.differences):
        if name not in config.profile.implementations:
            among = ", ".join(config.profile.implementations)
            text = f"got {name!r}, must be among profile.implementations, {among}"
            yield ("profile", "differences"), text
    yield from _cache_problems(config)
    yield from _machine_problems(config)
    yield from _node_problems(config)
    yield from _memory_problems(config, around.memory_bytes)
    yield from _time_problems(config)
    yield from _cpu_problems(config, around.usable_cpus)


def _unknown_implementations(config: Config, strategies: Collection[str]) -> Iterator[Problem]:
    """Yield names that are no way to send, and those that cannot have several messages a call."""
    chosen: dict[tuple[str, ...], Any] = {
        **{(name,): getattr(config, name) for name in (*GRIDS, "profile", *_DRIVEN, "simulated")},
        ("placement", "streams"): config.placement.streams,
        ("placement", "round_trips"): config.placement.round_trips,
    }
    for path, section in chosen.items():
        known = sorted(strategies)
        if path[0] in ("profile", *_DRIVEN):
            known.append(IPERF3)
        for name in section.implementations:
            strategy, batch = split_implementation(name)
            where = (*path, "implementations")
            if strategy not in known:
                meant = did_you_mean(name, known)
                yield where, f"got {name!r}, must be one of {', '.join(known)}{meant}"
            elif name != strategy and not capability_of(strategy).batching:
                why = "which passes one message per system call"
                yield where, f"got {name!r}, must be {strategy}, {why}"
            elif batch > 1 and path[-1] in ("round_trips", *_DRIVEN):
                why = f"{path[-1]} has one message per system call"
                yield where, f"got {name!r}, must be {strategy}: {why}"


def _never_measured(name: str, section: Any) -> Iterator[Problem]:  # noqa: ANN401
    """Yield what is listed and can have no cell with the rest of its section."""
    there = list(zip(*kinds_of(section), strict=True)) or [(), ()]
    for key, measured in zip(("implementations", "testbeds"), there, strict=False):
        never = [one for one in getattr(section, key) if one not in measured]
        if never and section.implementations:
            text = f"must be able to make a cell with the rest of {name}"
            yield (name, key), f"got {', '.join(never)}, {text} (docs/implementations.md)"
            return


def _ring_problems(name: str, section: Any, memory_bytes: int | None) -> Iterator[Problem]:  # noqa: ANN401
    """Yield the rings that hold no message per thread, or more than there is memory."""
    needed = max(section.msg_bytes) * max(section.n_threads)
    for ring in (int(value) for value in section.working_sets if value not in (HOT, COLD)):
        got = f"got {format_size(ring)}, must be"
        if ring < needed:
            least = f"{format_size(needed)}, a message of the largest size for each of the most"
            yield (name, "working_sets"), f"{got} >= {least} threads"
        if memory_bytes is not None and ring > memory_bytes:
            text = f"{got} less than the host's memory, {approximate_size(memory_bytes)}"
            yield (name, "working_sets"), text


def _cache_problems(config: Config) -> Iterator[Problem]:
    """Yield levels of the simulated caches that are no whole sets, or smaller than one before."""
    caches = config.simulated.caches
    largest = 0, ""
    for each in fields(caches) if caches else ():
        level = getattr(caches, each.name)
        path, got = ("simulated", "caches", each.name), f"got {format_size(level.size_bytes)}"
        if level.size_bytes < largest[0]:
            yield path, f"{got}, must be >= {format_size(largest[0])}, the size of {largest[1]}"
        largest = max(largest, (level.size_bytes, each.name))
        unit = level.ways * config.simulated.line_bytes
        if level.size_bytes % unit:
            of = f"{format_size(unit)}, its ways times a line"
            yield path, f"{got} in {level.ways} ways, must be a multiple of {of}"


def _machine_problems(config: Config) -> Iterator[Problem]:
    """Yield what is wrong with the other machines, or that there is none where one is needed."""
    machines = (config.wire, *config.wire.more)
    names = [one.name for one in machines if one.peer != NO_PEER]
    for name in {name for name in names if names.count(name) > 1}:
        text = f"has {name} more than once, must give each machine its own alias"
        yield ("wire", "more"), text
    for place, one in enumerate(machines):
        if _OF_EXPORTS.fullmatch(one.alias):
            found = f"got {one.alias}, must be another name: exports call machines without one so"
            yield ("wire", "more" if place else "alias"), found
        first, last = one.port_range or (1024, 65535)
        if not 1024 <= first <= last <= 65535:
            found = f"got {one.ports}, must be FIRST-LAST with 1024 <= FIRST <= LAST <= 65535"
            yield ("wire", "ports"), found
    for name in (*_PLACED, *_DRIVEN):
        for testbed in getattr(config, name).testbeds:
            if peer_of(testbed) not in (None, *names):
                known = ", ".join(names) or NO_PEER
                text = f"got {testbed!r}, must name a machine of the section wire: {known}"
                yield (name, "testbeds"), text
    for name in () if names else (*_PLACED, *_DRIVEN):
        section = getattr(config, name)
        if _is_used(section) and any(testbed in WIRES for testbed in section.testbeds):
            yield (
                ("wire", "peer"),
                f"got {NO_PEER}, must name the other machine, such as user@other, for"
                f" {name}.testbeds; ./run --wire user@other does too",
            )
            return


def _is_used(section: Any) -> bool:  # noqa: ANN401
    """Return whether anything is measured of a section."""
    return bool(getattr(section, "implementations", True) and getattr(section, "enabled", True))


def _node_problems(config: Config) -> Iterator[Problem]:
    """Yield that a node is named where none is measured."""
    slurm, where = config.hosts.slurm, ", ".join(config.hosts.where)
    if "slurm" not in config.hosts.where:
        for key in ("nodes", "count", "constraint"):
            if getattr(slurm, key):
                text = f"got [{where}], must list slurm where hosts.slurm.{key} is given"
                yield ("hosts", "where"), text


def _memory_problems(config: Config, memory_bytes: int | None) -> Iterator[Problem]:
    """Yield that the guests of the testbeds listed need more memory than there is."""
    sections = (getattr(config, name) for name in (*GRIDS, "profile", *_DRIVEN))
    used = (testbed for section in sections if _is_used(section) for testbed in section.testbeds)
    n_guests = max(map(guests_on, used), default=0)
    if n_guests and memory_bytes is not None:
        got, most = config.virtual.memory_mib, (memory_bytes >> 20) // n_guests
        if got > most:
            share = f"{n_guests} guests share the host's memory, {approximate_size(memory_bytes)}"
            yield ("virtual", "memory_mib"), f"got {got}, must be <= {most}: {share}"


def _time_problems(config: Config) -> Iterator[Problem]:
    """Yield windows that are too short for what is in them."""
    measure = config.measure
    window = f"measure.duration_s, which is {measure.duration_s}"
    if measure.warmup_s >= measure.duration_s:
        yield ("measure", "warmup_s"), f"got {measure.warmup_s}, must be shorter than {window}"
    if measure.interval_us / 1e6 > measure.duration_s / 10:
        text = f"got {measure.interval_us}, must let at least ten requests into {window} s"
        yield ("measure", "interval_us"), text


def _cpu_problems(config: Config, usable_cpus: Collection[int]) -> Iterator[Problem]:
    """Yield CPUs that this process may not use, and those that would not part both ends."""
    path = ("measure", "cpus")
    sides = {
        "sender": config.measure.cpus.sender or (),
        "receiver": config.measure.cpus.receiver or (),
    }
    for side, cpus in sides.items():
        for cpu in (cpu for cpu in cpus if cpu not in usable_cpus):
            usable = format_cpu_list(usable_cpus)
            text = f"got {cpu}, must be among the CPUs that this process may use, {usable}"
            yield (*path, side), text
    placed = [getattr(config, name) for name in _PLACED]
    if not all(sides.values()) or not any(APART in section.placements for section in placed):
        return
    most = max(n for section in placed for n in getattr(section, "n_threads", (1,)))
    for turn in range(most):
        sender, receiver = (cpus[turn % len(cpus)] for cpus in sides.values())
        if sender == receiver:
            text = f"puts both ends of connection {turn + 1} on CPU {sender}, must part them where"
            yield path, f"{text} the placement {APART} is listed; {SAME} has them on one CPU"
            return
