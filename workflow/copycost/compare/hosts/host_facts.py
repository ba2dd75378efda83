"""What tells hosts apart, as far as a cost could go with it: kernel, processor, caches, memory."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from copycost.compare.hosts.associations import Fact
from copycost.compare.hosts.host_results import HostSet
from copycost.studies.memory.record import read_memory

_LONGEST = 60
_RANGE = 2.0
_DISTURBED = 0.2
"""Share of disturbed repetitions from which on they may be why a host lies off."""

Told = dict[str, object]

_TEXTS: dict[str, tuple[str, ...]] = {
    "kernel": ("kernel", "release"),
    "processor": ("cpu", "model"),
    "vendor": ("cpu", "vendor"),
    "virtualisation": ("cpu", "virtualisation"),
    "preemption": ("kernel", "preempt"),
    "governor": ("cpu", "governor"),
}
_NUMBERS: dict[str, tuple[str, ...]] = {
    "CPUs": ("cpu", "cpus_online"),
    "L1d cache": ("cpu", "caches", "l1d_bytes"),
    "L2 cache": ("cpu", "caches", "l2_bytes"),
    "last-level cache": ("cpu", "caches", "llc_bytes"),
    "memory": ("memory", "total_bytes"),
    "timer frequency": ("kernel", "hz"),
}


def told_by(one: HostSet) -> Told:
    """Return the facts of a host by name: texts, numbers, None for what it does not tell."""
    host = one.facts()
    told: Told = {}
    for name, keys in (_TEXTS | _NUMBERS).items():
        value: Any = host
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if name in _TEXTS and isinstance(value, str):
            told[name] = " ".join(value.split())[:_LONGEST] or None
        elif name in _NUMBERS and is_number and 0 < value < 1e18:
            told[name] = value
        else:
            told[name] = None
    series = re.match(r"\d+\.\d+", str(told["kernel"] or ""))
    told["kernel series"] = f"Linux {series[0]}" if series else None
    told["virtualisation"] = told["virtualisation"] or "none"
    path = one.folder / "memory.json"
    floor = read_memory(path)["floor"] if path.is_file() else None
    told["memory floor"] = None
    if floor is not None:  # what a copy of a byte costs in the largest working set [ns]
        values = sorted(max(floor["points"], key=lambda point: point["bytes"])["ns_per_byte"])
        told["memory floor"] = float(values[len(values) // 2])
    return told


def compared_facts(hosts: Sequence[Told]) -> list[Fact]:
    """Return the facts of several hosts that an effect may go with; the same for all are none."""
    names = [name for name in hosts[0] if name != "kernel"] if hosts else []
    facts = [Fact(name, tuple(host[name] for host in hosts)) for name in names]
    return [fact for fact in facts if len(set(fact.values) - {None}) > 1]


def unlike_others(place: int, hosts: Sequence[Told], disturbed: Sequence[float]) -> list[str]:
    """Return what tells the host at a place from all others, as words.

    It need not be why it lies off. `disturbed` is the share of each host's repetitions that have a
    warning (0 to 1).
    """
    found = []
    for fact in compared_facts(hosts):
        own = fact.values[place]
        others = [v for k, v in enumerate(fact.values) if k != place and v is not None]
        if own is None or not others:
            continue
        if not fact.is_number:
            if own not in others:
                found.append(f"{fact.name} {own}")
        else:
            mine, *theirs = (float(str(value)) for value in (own, *others))
            if mine > 0 and (mine >= _RANGE * max(theirs) or mine * _RANGE <= min(theirs)):
                found.append(f"{fact.name} {shown_fact(fact.name, own)}")
    rest = [share for k, share in enumerate(disturbed) if k != place]
    if rest and disturbed[place] > _DISTURBED and disturbed[place] > 2 * max(rest):
        found.append(f"{disturbed[place]:.0%} of its repetitions disturbed")
    return found


def shown_fact(name: str, value: object) -> str:
    """Return a fact as a table has it."""
    from copycost.wording.filters import exact_size, significant  # not for the workers

    if value is None:
        return "not reported"
    if name.endswith("cache") or name == "memory":
        return exact_size(int(float(str(value))))
    if name == "memory floor":
        return f"{significant(float(str(value)), 2)} ns per byte"
    return f"{value} Hz" if name == "timer frequency" else str(value)
