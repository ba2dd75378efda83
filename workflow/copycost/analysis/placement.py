"""How many CPUs threads were pinned to, and how far placement of both ends moves the figures."""

import re
from collections import defaultdict

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.conditions import CELL, POINT, with_condition
from copycost.analysis.json_values import Facts
from copycost.analysis.log_ratios import logarithms, with_windows_beside
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.ratio_facts import ratio_facts
from copycost.analysis.stats.ratios import Ratio, family_ratios
from copycost.analysis.stats.settings import FloatArray, StatisticsSettings
from copycost.config.testbeds import APART, FREE, PLACEMENTS, kernels_on


def n_cpus_of(view: View) -> int | None:
    """Return how many CPUs the threads of both sides were pinned to; None if that is not known.

    As where it varied, where they were not pinned, or in guests, whose virtual CPUs run on any of
    the machine's.
    """
    if view.condition.placement == FREE or view.guests:
        return None
    sides = ["sender_cpus", "receiver_cpus"][: 1 if view.sender_only else 2]
    pinned = view.measured[sides].drop_duplicates()
    if len(pinned) != 1:
        return None
    cpus = [re.findall(r"\d+", str(text)) for text in pinned.iloc[0]]
    # two kernels number CPUs of their own
    kernels = kernels_on(view.condition.testbed)
    every = {(side % kernels, int(cpu)) for side, of in enumerate(cpus) for cpu in of}
    return len(every) if all(cpus) else None


def placement_facts(
    cells: pd.DataFrame, round_trips: pd.DataFrame | None, settings: StatisticsSettings
) -> Facts | None:
    """Return what the other placements came to beside `apart`; None where none was measured.

    Ratios of cells to themselves with both ends apart, paired by round: per study and placement, of
    throughput [bit/s] or of median round trips [ns].
    """
    tables = {"streams": (cells, THROUGHPUT)}
    if round_trips is not None:
        tables["round_trips"] = round_trips, "p50_ns"
    every = [
        ((study, placement), logs)
        for study, (table, metric) in tables.items()
        for placement, found in _log_ratios(table, metric).items()
        for logs in found
    ]
    groups: dict[tuple[str, str], list[Ratio]] = defaultdict(list)
    judged = family_ratios([logs for _, logs in every], settings.confidence)
    for (group, _), ratio in zip(every, judged, strict=True):
        groups[group].append(ratio)
    told = [
        {
            "study": study,
            "placement": placement,
            "n": len(ratios),
            # those that stand after Holm's correction for all of all groups
            "n_sure": sum(ratio.sign != 0 and ratio.n_pairs > 1 for ratio in ratios),
            "lowest": min(ratio.value for ratio in ratios),
            "highest": max(ratio.value for ratio in ratios),
            "once": all(ratio.n_pairs == 1 for ratio in ratios),
            "ratio": ratio_facts(ratios[0]) if len(ratios) == 1 else None,
        }
        for (study, placement), ratios in groups.items()
    ]
    return {"groups": told} if told else None


def _log_ratios(table: pd.DataFrame, metric: str) -> dict[str, list[FloatArray]]:
    """Return, by placement, the rounds of the cells that were measured in the same ones apart.

    Of a reference, also those in which it took turns with others: the control has few of its own.
    """
    rows = with_windows_beside(with_condition(table), CELL)
    measured = rows[rows["status"] == "measured"]
    found: dict[str, list[FloatArray]] = {name: [] for name in PLACEMENTS if name != APART}
    for _, rows in measured.groupby(["testbed", "working_set", "receiver", *POINT]):
        values = rows.pivot(index="rep", columns="placement", values=metric)
        for placement, rounds in found.items():
            if not {APART, placement} <= set(values):
                continue
            here, apart = (values[name].to_numpy(np.float64) for name in (placement, APART))
            logs = logarithms(here) - logarithms(apart)
            if np.isfinite(logs).any():
                rounds.append(logs)
    return found
