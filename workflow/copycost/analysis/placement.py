"""Which CPUs threads were pinned to, and how far the placement of both ends moves the figures."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.conditions import POINT, with_condition
from copycost.analysis.json_values import Facts
from copycost.analysis.log_ratios import logarithms
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.ratio_facts import ratio_facts
from copycost.config.placements import APART, FREE, PLACEMENTS
from copycost.config.testbeds import kernels_on
from copycost.stats.ratios import Ratio, family_ratios
from copycost.stats.settings import FloatArray, StatisticsSettings


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


def placement_facts(
    cells: pd.DataFrame, round_trips: pd.DataFrame | None, settings: StatisticsSettings
) -> Facts | None:
    """Return what the other placements came to beside `apart`; None where none was measured.

    Keys
    ----
    groups: Per study (``streams``: throughput [bit/s]; ``round_trips``: their median [ns]) and
        placement: n (ratios of cells to themselves with both ends apart, paired by round), n_sure
        (those that stand after Holm's correction for all of all groups), lowest, highest (value),
        once (whether all were observed in one round only), and ratio (None of several).
    """
    tables = {"streams": (cells, THROUGHPUT)}
    if round_trips is not None:
        tables["round_trips"] = round_trips, "p50_ns"
    every = [
        (study, placement, logs)
        for study, (table, metric) in tables.items()
        for placement, found in _log_ratios(table, metric).items()
        for logs in found
    ]
    judged = family_ratios([logs for _, _, logs in every], settings.confidence)
    groups: dict[tuple[str, str], list[Ratio]] = {}
    for (study, placement, _), ratio in zip(every, judged, strict=True):
        groups.setdefault((study, placement), []).append(ratio)
    told = [_group(*key, ratios) for key, ratios in groups.items()]
    return {"groups": told} if told else None


def _log_ratios(table: pd.DataFrame, metric: str) -> dict[str, list[FloatArray]]:
    """Return, by placement, the rounds of the cells that were measured in the same ones apart."""
    measured = with_condition(table)
    measured = measured[measured["status"] == "measured"]
    found: dict[str, list[FloatArray]] = {name: [] for name in PLACEMENTS if name != APART}
    for _, rows in measured.groupby([*_PLACE, *POINT], sort=True):
        values = rows.pivot(index="rep", columns="placement", values=metric)
        for placement, rounds in found.items():
            if not {APART, placement} <= set(values):
                continue
            here, apart = (values[name].to_numpy(np.float64) for name in (placement, APART))
            logs = logarithms(here) - logarithms(apart)
            if np.isfinite(logs).any():
                rounds.append(logs)
    return found


def _group(study: str, placement: str, ratios: Sequence[Ratio]) -> Facts:
    return {
        "study": study,
        "placement": placement,
        "n": len(ratios),
        "n_sure": sum(ratio.sign != 0 and ratio.n_pairs > 1 for ratio in ratios),
        "lowest": min(ratio.value for ratio in ratios),
        "highest": max(ratio.value for ratio in ratios),
        "once": all(ratio.n_pairs == 1 for ratio in ratios),
        "ratio": ratio_facts(ratios[0]) if len(ratios) == 1 else None,
    }
