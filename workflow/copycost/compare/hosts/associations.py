"""Which facts of hosts go with an effect: a rank test for each, corrected for their number.

That hosts with one value of a fact have another effect does not say that the fact is why: hosts
that share a value mostly share others too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from copycost.stats.ratios import holm
from copycost.stats.settings import FloatArray

FEWEST_HOSTS = 8
"""Fewer tell nothing of facts, of which there are more."""

_FEWEST_OF_A_VALUE = 3
_LEVEL = 0.05


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
