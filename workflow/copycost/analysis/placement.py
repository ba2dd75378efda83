"""Which CPUs threads were pinned to, and how far the placement of both ends moves the figures."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.conditions import POINT, with_condition
from copycost.analysis.json_values import Facts
from copycost.analysis.log_ratios import logarithms
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.ratio_facts import ratio_facts
from copycost.config.conditions import Condition
from copycost.config.placements import APART, FREE, PLACEMENTS
from copycost.config.testbeds import kernels_on
from copycost.stats.estimates import estimate
from copycost.stats.ratios import Ratio, holm, paired_ratio
from copycost.stats.settings import StatisticsSettings


@dataclass(frozen=True, slots=True)
class Placement:
    """CPU numbers of each side; thread i runs on number i modulo their count.

    Where nobody receives, the receiver has none.
    """

    sender: tuple[int, ...]
    receiver: tuple[int, ...]
    kernels: int = 1
    """On how many kernels the sides run: with 2, each numbers CPUs of its own."""

    @property
    def n_cpus(self) -> int:
        """Return how many CPUs both sides have together."""
        return len({cpu for cpus in self._sides for cpu in cpus})

    def threads_per_cpu(self, n_threads: int) -> int:
        """Return how many threads, of both sides, share the most crowded CPU."""
        placed = [cpus[i % len(cpus)] for cpus in self._sides if cpus for i in range(n_threads)]
        return max(Counter(placed).values())

    @property
    def _sides(self) -> list[list[tuple[int, int]]]:
        """The CPUs of each side, each with the number of the kernel that it belongs to."""
        sides = (self.sender, self.receiver)
        return [[(n % self.kernels, cpu) for cpu in cpus] for n, cpus in enumerate(sides)]


def placement_of(view: View) -> Placement | None:
    """Return where the threads ran; None where it varied, or where they were not pinned.

    Nor is it known of guests, whose virtual CPUs run on any of the machine's.
    """
    if view.studied.condition.placement == FREE or view.studied.guests:
        return None
    sides = ["sender_cpus", "receiver_cpus"][: 1 if view.sender_only else 2]
    pinned = view.measured[sides].drop_duplicates()
    if len(pinned) != 1:
        return None
    cpus = [tuple(map(int, re.findall(r"\d+", str(text)))) for text in pinned.iloc[0]]
    if not all(cpus):
        return None
    kernels = kernels_on(view.studied.condition.testbed)
    return Placement(cpus[0], cpus[1] if len(cpus) > 1 else (), kernels)


_PLACE = ["testbed", "working_set", "receiver"]
_Effect = tuple[Facts, Ratio]


def placement_facts(
    cells: pd.DataFrame, round_trips: pd.DataFrame | None, settings: StatisticsSettings
) -> Facts | None:
    """Return what the other placements came to beside `apart`; None where none was measured.

    Keys
    ----
    effects: Per cell and placement, in this order: study (``streams``: throughput [bit/s];
        ``round_trips``: their median [ns]), condition (of both ends apart), the columns of `POINT`,
        placement; apart and here (estimates), ratio (of here to apart, paired by round).
    groups: Per study and placement: n (ratios), n_sure (those that stand after Holm's correction
        for them), lowest, highest (value), once (whether all were observed in one round only), and
        ratio (None of several).
    """
    found = [*_effects(cells, "streams", THROUGHPUT, settings)]
    if round_trips is not None:
        found += _effects(round_trips, "round_trips", "p50_ns", settings)
    groups: dict[tuple[str, str], list[_Effect]] = defaultdict(list)
    for effect in sorted(found, key=lambda one: list(PLACEMENTS).index(one[0]["placement"])):
        groups[effect[0]["study"], effect[0]["placement"]].append(effect)
    in_order = [groups[key] for key in sorted(groups, key=lambda key: key[0] != "streams")]
    if not found:
        return None
    return {
        "effects": [facts for group in in_order for facts, _ in group],
        "groups": [_summary(group, settings.confidence) for group in in_order],
    }


def _effects(
    table: pd.DataFrame, study: str, metric: str, settings: StatisticsSettings
) -> Iterator[_Effect]:
    """Yield each cell in each placement that was measured in the same rounds as with ends apart."""
    measured = with_condition(table)
    measured = measured[measured["status"] == "measured"]
    for key, rows in measured.groupby([*_PLACE, *POINT], sort=True):
        values = rows.pivot(index="rep", columns="placement", values=metric)
        names = dict(zip([*_PLACE, *POINT], key, strict=True))
        for placement in PLACEMENTS:
            if placement == APART or not {APART, placement} <= set(values):
                continue
            here, apart = (values[name].to_numpy(np.float64) for name in (placement, APART))
            ratio = paired_ratio(logarithms(here) - logarithms(apart), settings.confidence)
            if ratio.n_pairs:
                facts = {
                    "study": study,
                    "condition": Condition(*map(str, key[: len(_PLACE)])).slug,
                    **{name: names[name] for name in POINT},
                    "placement": placement,
                    "apart": estimate(apart, settings),
                    "here": estimate(here, settings),
                    "ratio": ratio_facts(ratio),
                }
                yield facts, ratio


def _summary(group: Sequence[_Effect], confidence: float) -> Facts:
    effect, _ = group[0]
    ratios = [ratio for _, ratio in group]
    p_values = holm(np.array([ratio.p_value for ratio in ratios]))
    return {
        "study": effect["study"],
        "placement": effect["placement"],
        "n": len(group),
        "n_sure": int((p_values < 1.0 - confidence).sum()),
        "lowest": min(ratio.value for ratio in ratios),
        "highest": max(ratio.value for ratio in ratios),
        "once": all(ratio.n_pairs == 1 for ratio in ratios),
        "ratio": effect["ratio"] if len(group) == 1 else None,
    }
