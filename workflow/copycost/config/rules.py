"""What the schema of the configuration cannot say: rules on several values, and on the host."""

import itertools
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from copycost.config.capabilities import (
    IPERF3,
    MAX_BATCH,
    RECEIVERS,
    can_exist,
    capability_of,
    split_implementation,
)
from copycost.config.conditions import COLD, HOT, RECV
from copycost.config.placements import APART, PLACEMENTS, SAME
from copycost.config.sources import Sound, Surroundings
from copycost.config.structure import NONE, Problem
from copycost.config.testbeds import WIRES, Transport, guests_on, receives_on, transport_of
from copycost.config.wire import AUTO, NO_PEER, Peer
from copycost.wording.numbers import format_cpu_list, format_size
from copycost.wording.words import did_you_mean

GRIDS = ("streams", "udp", "round_trips")
TRANSPORTS: dict[str, Transport] = {
    "streams": "stream",
    "udp": "datagram",
    "round_trips": "stream",
}
DRIVEN: dict[str, Transport] = {"cpu_budget": "stream", "datagrams": "datagram"}
"""The studies whose senders may be iperf3, by what these send over."""
_PROTOCOLS: dict[Transport, str] = {"stream": "TCP", "datagram": "UDP"}

# sections beside the grids that name ways to send
_CHOOSING = (("placement", "streams"), ("placement", "round_trips"), ("simulated",), ("profile",))
_PLACED = (*GRIDS, "placement", "profile")
_WITH_TESTBEDS = (*GRIDS, "profile", *DRIVEN)
_MAY_REPEAT = ("ssh_options",)
# what exports call machines that have no alias (copycost.compare.hosts.privacy)
_OF_EXPORTS = re.compile(r"other(-\d+)?")


def cross_problems(sound: Sound, around: Surroundings) -> Iterator[Problem]:
    """Yield every problem."""
    yield from _repeated_values(sound)
    if not any(
        sound.get(grid, "implementations") is None or sound.list(grid, "implementations")
        for grid in ("streams", "udp")
    ):
        yield ("streams", "implementations"), "got [], must list one where udp lists none either"
    for grid in GRIDS:
        for name in sound.list(grid, "implementations"):
            problem = _implementation_problem(sound, grid, name, around.strategies)
            if problem:
                yield (grid, "implementations"), f"got {name!r}, {problem}"
        able = [name for name, transports in RECEIVERS.items() if TRANSPORTS[grid] in transports]
        unable = [name for name in sound.list(grid, "receivers") if name not in able]
        for name in unable:
            yield (grid, "receivers"), f"got {name!r}, must be one of {', '.join(able)}"
        if not unable:
            yield from _sink_problems(sound, grid)
        yield from _working_set_problems(sound, grid, around.memory_bytes)
    yield from _sender_problems(sound, around.strategies)
    yield from _cache_problems(sound)
    yield from _profile_problems(sound)
    yield from _sink_problems(sound, "profile")
    yield from _working_set_problems(sound, "profile", around.memory_bytes)
    yield from _machine_problems(sound)
    yield from _unreached_problems(sound)
    yield from _guest_problems(sound, around.memory_bytes)
    yield from _time_problems(sound)
    yield from _cpu_problems(sound, around.usable_cpus)


def _repeated_values(sound: Sound) -> Iterator[Problem]:
    for path in _lists(sound.get()):
        values = [value for value in sound.list(*path) if isinstance(value, int | str)]
        twice = sorted({value for value in values if values.count(value) > 1}, key=str)
        if twice and path[-1] not in _MAY_REPEAT:
            is_size = path[-1] in ("msg_bytes", "working_sets")
            shown = (
                format_size(int(value)) if is_size and value not in (HOT, COLD) else str(value)
                for value in twice
            )
            yield path, f"has {', '.join(shown)} more than once, must list each value once"


def _lists(node: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the way to each list of the configuration; those within lists are pairs and peers'."""
    if isinstance(node, Mapping):
        for key, below in node.items():
            yield from _lists(below, (*path, key))
    elif isinstance(node, list):
        yield path


def _implementation_problem(
    sound: Sound, grid: str, name: str, strategies: Collection[str]
) -> str | None:
    """Return why there is no such implementation in a grid, as the end of a sentence."""
    strategy, batch = split_implementation(name)
    if strategy not in strategies:
        return (
            f"must be one of {', '.join(sorted(strategies))} (the files of src/strategies)"
            f"{did_you_mean(name, strategies)}"
        )
    if name != strategy:
        if not capability_of(strategy).batching:
            return f"must be {strategy}, which passes one message per system call"
        if not 2 <= batch <= MAX_BATCH:
            return f"must pass 2 to {MAX_BATCH} messages per system call, or be {strategy}"
        if grid == "round_trips":
            return f"must be {strategy}, since a request waits for the reply to the last"
    transport = TRANSPORTS[grid]
    able = _able(strategies, transport)
    if strategy not in able:
        return f"must be able to send over {_PROTOCOLS[transport]}, as are {', '.join(able)}"
    testbeds, sizes = sound.list(grid, "testbeds"), sound.list(grid, "msg_bytes")
    if testbeds and sizes and not any(can_exist(name, testbeds[0], n, RECV) for n in sizes):
        return "must fit at least one of the sizes: the messages of a system call make one datagram"
    return None


def _able(strategies: Collection[str], transport: Transport) -> list[str]:
    """Return the strategies that can send over such sockets."""
    return sorted(name for name in strategies if transport in capability_of(name).transports)


def _sender_problems(sound: Sound, strategies: Collection[str]) -> Iterator[Problem]:
    """Yield what cannot send what a study needs, and names that would choose no cell."""
    for section in (*_CHOOSING, *((study,) for study in DRIVEN)):
        transport = DRIVEN.get(section[0])
        able = _able(strategies, transport) if transport else sorted(strategies)
        known = [*([IPERF3] if transport or section == ("profile",) else []), *able]
        for name in sound.list(*section, "implementations"):
            strategy, batch = split_implementation(name)
            may_batch = transport is None and capability_of(strategy).batching
            if strategy not in known or (batch > 1 and not may_batch):
                meant = did_you_mean(name, known)
                text = f"got {name!r}, must be one of {', '.join(known)}{meant}"
                yield (*section, "implementations"), text
            elif transport:
                yield from _size_problems(sound, section[0], name)


def _size_problems(sound: Sound, study: str, name: str) -> Iterator[Problem]:
    testbeds, of = sound.list(study, "testbeds"), sound.get(study, "msg_bytes")
    sizes: Sequence[int] = of if isinstance(of, list) else [of] if isinstance(of, int) else []
    places = itertools.product(testbeds, sizes)
    if testbeds and sizes and not any(can_exist(name, *place, RECV) for place in places):
        found = f"got {', '.join(testbeds)}, must list one on which {name} can send these sizes"
        yield (study, "testbeds"), found


def _cache_problems(sound: Sound) -> Iterator[Problem]:
    """Yield levels of the simulated caches that are no whole sets, or smaller than one before."""
    line_bytes = sound.get("simulated", "line_bytes")
    largest = 0, ""
    for level in ("l1d", "l2", "llc"):
        path = ("simulated", "caches", level)
        size, ways = (sound.get(*path, key) for key in ("size_bytes", "ways"))
        got = f"got {format_size(size or 0)}"
        if size and size < largest[0]:
            yield path, f"{got}, must be >= {format_size(largest[0])}, the size of {largest[1]}"
        largest = max(largest, (size or 0, level))
        if size and ways and line_bytes and size % (ways * line_bytes):
            unit = format_size(ways * line_bytes)
            text = f"{got} in {ways} ways, must be a multiple of {unit}, its ways times a line"
            yield path, text


def _profile_problems(sound: Sound) -> Iterator[Problem]:
    """Yield what cannot be profiled on the testbeds, and what would be compared with nothing."""
    names, testbeds = sound.list("profile", "implementations"), sound.list("profile", "testbeds")
    transports = {transport_of(testbed) for testbed in testbeds}
    for name in names:
        strategy, _ = split_implementation(name)
        able = _PROTOCOLS if strategy == IPERF3 else capability_of(strategy).transports
        if testbeds and not transports.intersection(able):
            yield (
                ("profile", "implementations"),
                f"got {name!r}, must be able to send on one of profile.testbeds, "
                f"{', '.join(testbeds)}",
            )
    for name in itertools.chain.from_iterable(sound.list("profile", "differences")):
        if names and name not in names:
            among = f"must be among profile.implementations, {', '.join(names)}"
            yield ("profile", "differences"), f"got {name!r}, {among}"


def _sink_problems(sound: Sound, grid: str) -> Iterator[Problem]:
    """Yield the receivers and placements that leave nothing of a sink, where nobody receives."""
    receivers, placements = sound.list(grid, "receivers"), sound.list(grid, "placements")
    sinks = [name for name in sound.list(grid, "testbeds") if not receives_on(name)]
    too = f"too for {sinks[0]}, where nobody receives" if sinks else ""
    if sinks and receivers and RECV not in receivers:
        yield (grid, "receivers"), f"got {', '.join(receivers)}, must list {RECV} {too}"
    if sinks and placements == [SAME]:
        others = " or ".join(name for name in PLACEMENTS if name != SAME)
        yield (grid, "placements"), f"got {SAME}, must list {others} {too}"


def _working_set_problems(sound: Sound, grid: str, memory_bytes: int | None) -> Iterator[Problem]:
    """Yield the rings that hold no message per thread, or more than there is memory."""
    path = (grid, "working_sets")
    sizes, counts = sound.list(grid, "msg_bytes"), sound.list(grid, "n_threads")
    needed = max(sizes, default=0) * max(counts, default=0)
    for ring in (int(value) for value in sound.list(*path) if value not in (HOT, COLD)):
        got = f"got {format_size(ring)}, must be"
        if ring < needed:
            least = f"{format_size(needed)}, a message of the largest size for each of the most"
            yield path, f"{got} >= {least} threads"
        if memory_bytes is not None and ring > memory_bytes:
            yield path, f"{got} less than the host's memory, {_gib(memory_bytes)}"


def _gib(n_bytes: int) -> str:
    return f"{n_bytes / (1 << 30):.1f} GiB"


def _machine_problems(sound: Sound) -> Iterator[Problem]:
    """Yield what is wrong with the other machines."""
    machines = _machines(sound)
    names = _names_of(machines)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        yield ("wire", "more"), f"has {twice} more than once, must give each machine its own alias"
    for place, one in enumerate(machines):
        if _OF_EXPORTS.fullmatch(one.alias):
            found = f"got {one.alias}, must be another name: exports call machines without one so"
            yield ("wire", "more" if place else "alias"), found
        first, last = one.port_range or (1024, 65535)
        if not 1024 <= first <= last <= 65535:
            found = f"got {one.ports}, must be FIRST-LAST with 1024 <= FIRST <= LAST <= 65535"
            yield ("wire", "ports"), found


def _machines(sound: Sound) -> list[Peer]:
    """Return the machines, each with what is sound of it."""
    first = {key: sound.get("wire", key) or AUTO for key in ("peer", "alias", "ports")}
    return [
        Peer(one["peer"], alias=one.get("alias", AUTO), ports=one.get("ports", AUTO))
        for one in (first, *sound.list("wire", "more"))
    ]


def _names_of(machines: Sequence[Peer]) -> list[str]:
    return [one.name for one in machines if one.peer != NO_PEER]


def _unreached_problems(sound: Sound) -> Iterator[Problem]:
    """Yield that no other machine is named where one is needed, or a node where none is measured.

    One of each is enough.
    """
    for section in (*_PLACED, *DRIVEN) if not _names_of(_machines(sound)) else ():
        listed = [name for name in sound.list(section, "testbeds") if name in WIRES]
        used = sound.list(section, "implementations") or section == "placement"
        if listed and used and sound.get(section, "enabled") is not False:
            yield (
                ("wire", "peer"),
                f"got {NO_PEER}, must name the other machine, such as user@other, where"
                f" {section}.testbeds lists {listed[0]}; ./run --wire user@other does too",
            )
            break
    where = sound.list("hosts", "where")
    for key, nothing in (("nodes", []), ("count", 0), ("constraint", NONE)):
        value = sound.get("hosts", "slurm", key)
        if where and "slurm" not in where and value not in (None, nothing):
            found = f"got [{', '.join(where)}]"
            yield ("hosts", "where"), f"{found}, must list slurm where hosts.slurm.{key} is given"
            break


def _guest_problems(sound: Sound, memory_bytes: int | None) -> Iterator[Problem]:
    """Yield that the guests of the testbeds listed need more memory than there is."""
    listed = (name for section in _WITH_TESTBEDS for name in sound.list(section, "testbeds"))
    n_guests = max(map(guests_on, listed), default=0)
    mib = sound.get("virtual", "memory_mib")
    if n_guests and mib is not None and memory_bytes is not None:
        most = (memory_bytes >> 20) // n_guests
        if mib > most:
            share = f"{n_guests} guests share the host's memory, {_gib(memory_bytes)}"
            yield ("virtual", "memory_mib"), f"got {mib}, must be <= {most}: {share}"


def _time_problems(sound: Sound) -> Iterator[Problem]:
    """Yield windows that are too short for what is in them."""
    warmup_s, duration_s, interval_us = (
        sound.get("measure", key) for key in ("warmup_s", "duration_s", "interval_us")
    )
    if duration_s is None:
        return
    window = f"measure.duration_s, which is {duration_s}"
    if warmup_s is not None and warmup_s >= duration_s:
        yield ("measure", "warmup_s"), f"got {warmup_s}, must be shorter than {window}"
    if interval_us is not None and interval_us / 1e6 > duration_s / 10:
        text = f"got {interval_us}, must let at least ten requests into {window} s"
        yield ("measure", "interval_us"), text


def _cpu_problems(sound: Sound, usable_cpus: Collection[int]) -> Iterator[Problem]:
    """Yield CPUs that this process may not use, and those that would not part both ends."""
    path = ("measure", "cpus")
    sides = {side: sound.list(*path, side) for side in ("sender", "receiver")}
    for side, cpus in sides.items():
        for cpu in (cpu for cpu in cpus if cpu not in usable_cpus):
            usable = format_cpu_list(usable_cpus)
            text = f"got {cpu}, must be among the CPUs that this process may use, {usable}"
            yield (*path, side), text
    if not all(sides.values()) or not any(
        APART in sound.list(grid, "placements") for grid in _PLACED
    ):
        return
    most = max((n for grid in _PLACED for n in sound.list(grid, "n_threads")), default=1)
    both = list(sides.values())
    for turn in range(min(most, math.lcm(*map(len, both)))):
        sender, receiver = (cpus[turn % len(cpus)] for cpus in both)
        if sender == receiver:
            yield (
                path,
                f"puts both ends of connection {turn + 1} on CPU {sender}, must part them where "
                f"the placement {APART} is listed; {SAME} has them on one CPU",
            )
            return
