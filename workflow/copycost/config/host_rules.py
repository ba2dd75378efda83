"""Rules on what the configuration asks of this host, its guests and the machines beyond a wire."""

import math
import re
from collections.abc import Collection, Iterator

from copycost.config.placements import APART, SAME
from copycost.config.problems import DRIVEN, GRIDS, Problem, Sound
from copycost.config.structure import NONE
from copycost.config.testbeds import WIRES, guests_on
from copycost.config.wire import AUTO, NO_PEER, Peer, port_range_of
from copycost.wording.numbers import format_cpu_list

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
