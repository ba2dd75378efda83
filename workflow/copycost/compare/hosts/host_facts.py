"""What tells hosts apart, kernel, processor, caches, memory, and which of it goes with an effect.

That hosts with one value of a fact have another effect does not say that the fact is why: hosts
that share a value mostly share others too.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from scipy import stats

from copycost.analysis.json_values import Facts
from copycost.compare.hosts.host_results import HostSet
from copycost.stats.ratios import holm
from copycost.studies.memory.record import read_memory
from copycost.wording.filters import exact_size, significant

FEWEST_HOSTS = 8
"""Fewer tell nothing of facts, of which there are more."""

_FEWEST_OF_A_VALUE = 3
_LEVEL = 0.05
_LONGEST = 60

Told = dict[str, str | float | None]

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


def shown_fact(name: str, value: str | float | None) -> str:
    """Return a fact as a table has it."""
    if value is None:
        return "not reported"
    if name.endswith("cache") or name == "memory":
        return exact_size(int(value))
    if name == "memory floor":
        return f"{significant(float(value), 2)} ns per byte"
    return f"{value} Hz" if name == "timer frequency" else str(value)


def associations(effects: pd.Series, told: pd.DataFrame, n_looks: int = 1) -> list[Facts]:
    """Return the facts that go with an effect, the surest first.

    Numbers are tested by Spearman's rank correlation, texts by Kruskal and Wallis' test over values
    that three hosts share at least. Effects are logarithms, and facts those of the same hosts; of
    `n_looks` effects this is asked in one report, and it is for all of them together that hardly
    ever a fact is shown which goes with none.

    Each has its `name`, the number `n` of hosts that tell it, and a `p_value`, corrected for the
    number of facts (Holm) and of effects (Bonferroni). Of a number, `sign` is 1 where the effect
    rises with it, -1 where it falls; of a text it is 0, and `groups` are each `value` with its
    hosts, `n`, and the mean `ratio`.
    """
    facts = told.drop(columns="kernel", errors="ignore")  # its series says as much
    tested = [found for name in facts if (found := _tested(effects, facts[name])) is not None]
    corrected = n_looks * holm(np.array([one["p_value"] for one in tested], dtype=np.float64))
    shown = [
        one | {"p_value": float(p_value)}
        for one, p_value in zip(tested, corrected, strict=True)
        if p_value < _LEVEL
    ]
    return sorted(shown, key=lambda one: one["p_value"])


def _tested(effects: pd.Series, fact: pd.Series) -> Facts | None:
    values, logs = fact.dropna().infer_objects(), effects[fact.notna()]
    if len(values) < FEWEST_HOSTS or values.nunique() < 2:
        return None
    if is_numeric_dtype(values):
        ranked = stats.spearmanr(values, logs)
        return {"name": fact.name, "n": len(values), "p_value": float(ranked.pvalue),
                "sign": int(np.sign(ranked.statistic)), "groups": []}  # fmt: skip
    by_value = logs.groupby(values, sort=False)
    several = {text: of for text, of in by_value if len(of) >= _FEWEST_OF_A_VALUE}
    if len(several) < 2 or pd.concat(several).nunique() < 2:
        return None
    groups = [
        {"value": text, "n": len(of), "ratio": math.exp(of.mean())} for text, of in several.items()
    ]
    return {
        "name": fact.name, "n": sum(map(len, several.values())), "sign": 0,
        "p_value": float(stats.kruskal(*several.values()).pvalue),
        "groups": sorted(groups, key=lambda one: -one["n"]),
    }  # fmt: skip
