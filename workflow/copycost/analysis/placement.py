"""Which CPUs threads were pinned to, and how far the placement of both ends moves the figures."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

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
        placement; apart and here (estimates), ratio (of here to apart, paired by round), sure
        (stands after Holm's correction for all cells of the study and placement).
    groups: Per study and placement: n (ratios), n_sure, lowest, highest (value), and once (whether
        all were observed in one round only).
    """
    found = [*_effects(cells, "streams", THROUGHPUT, settings)]
    if round_trips is not None:
        found += _effects(round_trips, "round_trips", "p50_ns", settings)
    if not found:
        return None
    found.sort(key=lambda effect: _group(effect[0]))
    groups = [list(members) for _, members in groupby(found, lambda effect: _group(effect[0]))]
    return {
        "effects": [
            effect | {"sure": sure}
            for group in groups
            for (effect, _), sure in zip(group, _sure(group, settings.confidence), strict=True)
        ],
        "groups": [_summary(group, settings.confidence) for group in groups],
    }


def _group(effect: Facts) -> tuple[bool, int]:
    return effect["study"] != "streams", list(PLACEMENTS).index(effect["placement"])


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
                yield (
                    {
                        "study": study,
                        "condition": Condition(*map(str, key[: len(_PLACE)])).slug,
                        **{name: names[name] for name in POINT},
                        "placement": placement,
                        "apart": estimate(apart[~np.isnan(apart)], settings),
                        "here": estimate(here[~np.isnan(here)], settings),
                        "ratio": ratio_facts(ratio),
                    },
                    ratio,
                )


def _sure(group: Sequence[_Effect], confidence: float) -> list[bool]:
    p_values = holm(np.array([ratio.p_value for _, ratio in group]))
    return [bool(p_value < 1.0 - confidence) for p_value in p_values]


def _summary(group: Sequence[_Effect], confidence: float) -> Facts:
    effect, _ = group[0]
    values = [ratio.value for _, ratio in group]
    return {
        "study": effect["study"],
        "placement": effect["placement"],
        "n": len(group),
        "n_sure": sum(_sure(group, confidence)),
        "lowest": min(values),
        "highest": max(values),
        "once": all(ratio.n_pairs == 1 for _, ratio in group),
        "ratio": effect["ratio"] if len(group) == 1 else None,
    }
