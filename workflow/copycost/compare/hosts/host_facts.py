"""What tells hosts apart, kernel, processor, caches, memory, and which of it goes with an effect.

That hosts with one value of a fact have another effect does not say that the fact is why: hosts
that share a value mostly share others too.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from copycost.compare.hosts.host_results import HostSet
from copycost.stats.ratios import holm
from copycost.stats.settings import FloatArray
from copycost.studies.memory.record import read_memory
from copycost.wording.filters import exact_size, significant

FEWEST_HOSTS = 8
"""Fewer tell nothing of facts, of which there are more."""

_FEWEST_OF_A_VALUE = 3
_LEVEL = 0.05
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


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of every host: numbers or texts, None where a host does not tell it."""

    name: str
    values: tuple[object, ...]

    @property
    def is_number(self) -> bool:
        """Tell whether all that is told are numbers."""
        told = [value for value in self.values if value is not None]
        return bool(told) and all(
            isinstance(value, int | float) and not isinstance(value, bool) for value in told
        )


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
    if value is None:
        return "not reported"
    if name.endswith("cache") or name == "memory":
        return exact_size(int(float(str(value))))
    if name == "memory floor":
        return f"{significant(float(str(value)), 2)} ns per byte"
    return f"{value} Hz" if name == "timer frequency" else str(value)


@dataclass(frozen=True, slots=True)
class Association:
    """A fact that goes with an effect, and is told by so many hosts.

    The p-value is corrected for the number of facts (Holm), and of effects that are looked at
    (Bonferroni). Of a number, the sign is 1 where the effect rises with it, -1 where it falls; of a
    text it is 0, and groups are each value with the number of hosts and the mean of their effects
    [logarithm].
    """

    name: str
    p_value: float
    sign: int
    groups: tuple[tuple[str, int, float], ...]
    n: int


def associations(effects: FloatArray, facts: Sequence[Fact], n_looks: int = 1) -> list[Association]:
    """Return the facts that go with an effect, the surest first.

    Numbers are tested by Spearman's rank correlation, texts by Kruskal and Wallis' test over values
    that three hosts share at least. Effects are logarithms, NaN where a host has none; of `n_looks`
    of them this is asked in one report, and it is for all of them together that hardly ever a fact
    is shown which goes with none.
    """
    tested = [found for fact in facts if (found := _tested(effects, fact)) is not None]
    corrected = n_looks * holm(np.array([one.p_value for one in tested], dtype=np.float64))
    shown = [
        replace(one, p_value=float(p_value))
        for one, p_value in zip(tested, corrected, strict=True)
        if p_value < _LEVEL
    ]
    return sorted(shown, key=lambda one: one.p_value)


def _tested(effects: FloatArray, fact: Fact) -> Association | None:
    known = [
        (value, float(effect))
        for value, effect in zip(fact.values, effects, strict=True)
        if value is not None and np.isfinite(effect)
    ]
    if len(known) < FEWEST_HOSTS or len({value for value, _ in known}) < 2:
        return None
    if fact.is_number:
        numbers = [float(str(value)) for value, _ in known]
        found = stats.spearmanr(numbers, [effect for _, effect in known])
        sign = int(np.sign(found.statistic))
        return Association(fact.name, float(found.pvalue), sign, (), len(known))
    by_value: dict[str, list[float]] = {}
    for value, effect in known:
        by_value.setdefault(str(value), []).append(effect)
    several = {text: of for text, of in by_value.items() if len(of) >= _FEWEST_OF_A_VALUE}
    if len(several) < 2 or len({effect for of in several.values() for effect in of}) < 2:
        return None
    p_value = float(stats.kruskal(*several.values()).pvalue)
    groups = [(text, len(of), float(np.mean(of))) for text, of in several.items()]
    groups.sort(key=lambda one: -one[1])
    return Association(fact.name, p_value, 0, tuple(groups), sum(map(len, several.values())))
