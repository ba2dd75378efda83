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
from copycost.config.problems import DRIVEN, GRIDS, TRANSPORTS, Problem, Sound, Surroundings
from copycost.config.structure import NONE
from copycost.config.testbeds import WIRES, Transport, guests_on, receives_on, transport_of
from copycost.config.wire import AUTO, NO_PEER, Peer, port_range_of
from copycost.wording.numbers import format_cpu_list, format_size
from copycost.wording.words import did_you_mean

_PROTOCOLS: dict[Transport, str] = {"stream": "TCP", "datagram": "UDP"}

# sections beside the grids that name ways to send
_CHOOSING = (("placement", "streams"), ("placement", "round_trips"), ("simulated",), ("profile",))
_MAY_REPEAT = ("ssh_options",)


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
        yield from _receiver_problems(sound, grid)
        yield from _working_set_problems(sound, grid, around.memory_bytes)
    for study in DRIVEN:
        yield from _sender_problems(sound, study, around.strategies)
    yield from _unknown_names(sound, around.strategies)
    yield from _cache_problems(sound)
    yield from _profile_problems(sound)
    yield from _sink_problems(sound, "profile")
    yield from _working_set_problems(sound, "profile", around.memory_bytes)
    yield from wire_problems(sound)
    yield from cluster_problems(sound)
    yield from guest_problems(sound, around.memory_bytes)
    yield from time_problems(sound)
    yield from cpu_problems(sound, around.usable_cpus)


def _repeated_values(sound: Sound) -> Iterator[Problem]:
    for path in _lists(sound.get()):
        values = [value for value in sound.list(*path) if isinstance(value, int | str)]
        twice = sorted({value for value in values if values.count(value) > 1}, key=str)
        if twice and path[-1] not in _MAY_REPEAT:
            of_sizes = path[-1] in ("msg_bytes", "working_sets")
            shown = (_shown_size(value) if of_sizes else str(value) for value in twice)
            yield path, f"has {', '.join(shown)} more than once, must list each value once"


def _lists(node: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the way to each list of the configuration; those within lists are pairs and peers'."""
    if isinstance(node, Mapping):
        for key, below in node.items():
            yield from _lists(below, (*path, key))
    elif isinstance(node, list):
        yield path


def _shown_size(value: int | str) -> str:
    return str(value) if value in (HOT, COLD) else format_size(int(value))


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
    if transport not in capability_of(strategy).transports:
        able = [other for other in strategies if transport in capability_of(other).transports]
        return (
            f"must be able to send over {_PROTOCOLS[transport]}, as are {', '.join(sorted(able))}"
        )
    testbeds, sizes = sound.list(grid, "testbeds"), sound.list(grid, "msg_bytes")
    if testbeds and sizes and not any(can_exist(name, testbeds[0], n, RECV) for n in sizes):
        return "must fit at least one of the sizes: the messages of a system call make one datagram"
    return None


def _sender_problems(sound: Sound, study: str, strategies: Collection[str]) -> Iterator[Problem]:
    """Yield the senders that there are not, or that cannot send what the study needs."""
    able = [name for name in strategies if DRIVEN[study] in capability_of(name).transports]
    known = [IPERF3, *sorted(able)]
    names = sound.list(study, "implementations")
    for name in names:
        if name not in known:
            yield (
                (study, "implementations"),
                f"got {name!r}, must be one of {', '.join(known)}{did_you_mean(name, known)}",
            )
    testbeds, sizes = sound.list(study, "testbeds"), _sizes(sound.get(study, "msg_bytes"))
    for name in names if testbeds and sizes else ():
        places = itertools.product(testbeds, sizes)
        if name in known and not any(can_exist(name, *place, RECV) for place in places):
            yield (
                (study, "testbeds"),
                f"got {', '.join(testbeds)}, must list one on which {name} can send these sizes",
            )


def _unknown_names(sound: Sound, strategies: Collection[str]) -> Iterator[Problem]:
    """Yield the ways to send that there are not, which would choose no cell without a word."""
    for path in ((*section, "implementations") for section in _CHOOSING):
        known = [*([IPERF3] if path[0] == "profile" else []), *sorted(strategies)]
        for name in sound.list(*path):
            strategy, batch = split_implementation(name)
            if strategy not in known or (batch > 1 and not capability_of(strategy).batching):
                meant = did_you_mean(name, known)
                yield path, f"got {name!r}, must be one of {', '.join(known)}{meant}"


def _cache_problems(sound: Sound) -> Iterator[Problem]:
    """Yield levels of the simulated caches that are no whole sets, or smaller than one before."""
    line_bytes = sound.get("simulated", "line_bytes")
    largest = 0, ""
    for level in ("l1d", "l2", "llc"):
        size, ways = (
            sound.get("simulated", "caches", level, key) for key in ("size_bytes", "ways")
        )
        if size and size < largest[0]:
            yield (
                ("simulated", "caches", level),
                f"got {format_size(size)}, must be >= {format_size(largest[0])}, the size of "
                f"{largest[1]}",
            )
        largest = max(largest, (size or 0, level))
        if size and ways and line_bytes and size % (ways * line_bytes):
            yield (
                ("simulated", "caches", level),
                f"got {format_size(size)} in {ways} ways, must be a multiple of "
                f"{format_size(ways * line_bytes)}, its ways times a line",
            )


def _sizes(value: object) -> Sequence[int]:
    """Return the sizes of a section that has a list of them, or one."""
    return value if isinstance(value, list) else [value] if isinstance(value, int) else []


def _profile_problems(sound: Sound) -> Iterator[Problem]:
    """Yield what cannot be profiled on the testbeds, and what would be compared with nothing."""
    names, testbeds = sound.list("profile", "implementations"), sound.list("profile", "testbeds")
    transports = {transport_of(testbed) for testbed in testbeds}
    for name in names:
        if testbeds and not transports.intersection(_profiled_transports(name)):
            yield (
                ("profile", "implementations"),
                f"got {name!r}, must be able to send on one of profile.testbeds, "
                f"{', '.join(testbeds)}",
            )
    for pair in sound.list("profile", "differences"):
        for name in pair:
            if names and name not in names:
                yield (
                    ("profile", "differences"),
                    f"got {name!r}, must be among profile.implementations, {', '.join(names)}",
                )


def _profiled_transports(name: str) -> Collection[Transport]:
    strategy, _ = split_implementation(name)
    return _PROTOCOLS if strategy == IPERF3 else capability_of(strategy).transports


def _receiver_problems(sound: Sound, grid: str) -> Iterator[Problem]:
    """Yield the receivers that cannot read what a grid sends."""
    able = [name for name, transports in RECEIVERS.items() if TRANSPORTS[grid] in transports]
    unable = [name for name in sound.list(grid, "receivers") if name not in able]
    for name in unable:
        yield (grid, "receivers"), f"got {name!r}, must be one of {', '.join(able)}"
    if not unable:
        yield from _sink_problems(sound, grid)


def _sink_problems(sound: Sound, grid: str) -> Iterator[Problem]:
    """Yield the receivers and placements that leave nothing of a sink, where nobody receives."""
    receivers, placements = sound.list(grid, "receivers"), sound.list(grid, "placements")
    sinks = [name for name in sound.list(grid, "testbeds") if not receives_on(name)]
    if sinks and receivers and RECV not in receivers:
        yield (
            (grid, "receivers"),
            f"got {', '.join(receivers)}, must list {RECV} too for {sinks[0]}, where "
            "nobody receives",
        )
    if sinks and placements == [SAME]:
        others = " or ".join(name for name in PLACEMENTS if name != SAME)
        yield (
            (grid, "placements"),
            f"got {SAME}, must list {others} too for {sinks[0]}, where nobody receives",
        )


def _working_set_problems(sound: Sound, grid: str, memory_bytes: int | None) -> Iterator[Problem]:
    """Yield the rings that hold no message per thread, or more than there is memory."""
    sizes, counts = sound.list(grid, "msg_bytes"), sound.list(grid, "n_threads")
    needed = max(sizes, default=0) * max(counts, default=0)
    for value in sound.list(grid, "working_sets"):
        if value in (HOT, COLD):
            continue
        shown = format_size(int(value))
        if int(value) < needed:
            yield (
                (grid, "working_sets"),
                f"got {shown}, must be >= {format_size(needed)}, a message of the largest size "
                "for each of the most threads",
            )
        if memory_bytes is not None and int(value) > memory_bytes:
            yield (
                (grid, "working_sets"),
                f"got {shown}, must be less than the host's memory, "
                f"{memory_bytes / (1 << 30):.1f} GiB",
            )


_PLACED = (*GRIDS, "placement", "profile")
# what exports call machines that have no alias (copycost.compare.hosts.privacy)
_OF_EXPORTS = re.compile(r"other(-\d+)?")
_WITH_TESTBEDS = (*GRIDS, "profile", "cpu_budget", "datagrams")


def wire_problems(sound: Sound) -> Iterator[Problem]:
    """Yield what is wrong with the other machines, or that there is none where one is needed."""
    first = {key: sound.get("wire", key) or AUTO for key in ("peer", "alias", "ports")}
    stated = [first, *sound.list("wire", "more")]
    machines = (Peer(one["peer"], alias=one.get("alias", AUTO)) for one in stated)
    names = [one.name for one in machines if one.peer != NO_PEER]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        yield ("wire", "more"), f"has {twice} more than once, must give each machine its own alias"
    for place, one in enumerate(stated):
        if _OF_EXPORTS.fullmatch(alias := one.get("alias", AUTO)):
            found = f"got {alias}, must be another name: exports call machines without one so"
            yield ("wire", "more" if place else "alias"), found
    for ports in (one.get("ports") for one in stated):
        if ports in (None, AUTO):
            continue
        first_port, last_port = port_range_of(ports)
        if not 1024 <= first_port <= last_port <= 65535:
            found = f"got {ports}, must be FIRST-LAST with 1024 <= FIRST <= LAST <= 65535"
            yield ("wire", "ports"), found
    if names:
        return
    for section in (*GRIDS, "placement", "profile", *DRIVEN):
        listed = [name for name in sound.list(section, "testbeds") if name in WIRES]
        used = sound.list(section, "implementations") or section == "placement"
        if listed and used and sound.get(section, "enabled") is not False:
            yield (
                ("wire", "peer"),
                f"got {NO_PEER}, must name the other machine, such as user@other, where"
                f" {section}.testbeds lists {listed[0]}; ./run --wire user@other does too",
            )
            return


def cluster_problems(sound: Sound) -> Iterator[Problem]:
    """Yield that nodes of a cluster are chosen, which nobody would measure."""
    where = sound.list("hosts", "where")
    for key, nothing in (("nodes", []), ("count", 0), ("constraint", NONE)):
        value = sound.get("hosts", "slurm", key)
        if where and "slurm" not in where and value not in (None, nothing):
            yield (
                ("hosts", "where"),
                f"got [{', '.join(where)}], must list slurm where hosts.slurm.{key} is given",
            )
            return


def guest_problems(sound: Sound, memory_bytes: int | None) -> Iterator[Problem]:
    """Yield that the guests of the testbeds listed need more memory than there is."""
    listed = (name for section in _WITH_TESTBEDS for name in sound.list(section, "testbeds"))
    n_guests = max(map(guests_on, listed), default=0)
    mib = sound.get("virtual", "memory_mib")
    if n_guests and mib is not None and memory_bytes is not None:
        most = (memory_bytes >> 20) // n_guests
        if mib > most:
            yield (
                ("virtual", "memory_mib"),
                f"got {mib}, must be <= {most}: {n_guests} guests share the host's memory, "
                f"{memory_bytes / (1 << 30):.1f} GiB",
            )


def time_problems(sound: Sound) -> Iterator[Problem]:
    """Yield windows that are too short for what is in them."""
    warmup_s, duration_s = sound.get("measure", "warmup_s"), sound.get("measure", "duration_s")
    if warmup_s is not None and duration_s is not None and warmup_s >= duration_s:
        yield (
            ("measure", "warmup_s"),
            f"got {warmup_s}, must be shorter than measure.duration_s, which is {duration_s}",
        )
    interval_us = sound.get("measure", "interval_us")
    if interval_us is not None and duration_s is not None and interval_us / 1e6 > duration_s / 10:
        yield (
            ("measure", "interval_us"),
            f"got {interval_us}, must let at least ten requests into measure.duration_s, "
            f"which is {duration_s} s",
        )


def cpu_problems(sound: Sound, usable_cpus: Collection[int]) -> Iterator[Problem]:
    """Yield CPUs that this process may not use, and those that would not part both ends."""
    for side in ("sender", "receiver"):
        for cpu in sound.list("measure", "cpus", side):
            if cpu not in usable_cpus:
                yield (
                    ("measure", "cpus", side),
                    f"got {cpu}, must be among the CPUs that this process may use, "
                    f"{format_cpu_list(usable_cpus)}",
                )
    sides = [sound.list("measure", "cpus", side) for side in ("sender", "receiver")]
    if not all(sides) or not any(APART in sound.list(grid, "placements") for grid in _PLACED):
        return
    most = max((n for grid in _PLACED for n in sound.list(grid, "n_threads")), default=1)
    turns = range(min(most, math.lcm(*map(len, sides))))
    met = next((i for i in turns if len({cpus[i % len(cpus)] for cpus in sides}) == 1), None)
    if met is not None:
        yield (
            ("measure", "cpus"),
            f"puts both ends of connection {met + 1} on CPU {sides[0][met % len(sides[0])]}, must "
            f"part them where the placement {APART} is listed; {SAME} has them on one CPU",
        )
