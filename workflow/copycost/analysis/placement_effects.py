"""How far the placement of both ends moves the figures: the same cells, placement by placement."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
import pandas as pd

from copycost.analysis.conditions import POINT, with_condition
from copycost.analysis.json_values import Facts
from copycost.analysis.log_ratios import logarithms
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.ratio_facts import ratio_facts
from copycost.config.conditions import Condition
from copycost.config.placements import APART, PLACEMENTS
from copycost.stats.estimates import estimate
from copycost.stats.ratios import Ratio, holm, paired_ratio
from copycost.stats.settings import StatisticsSettings

_PLACE = ["testbed", "working_set", "receiver"]
_Effect = tuple[Facts, Ratio]


def placement_facts(
    cells: pd.DataFrame, round_trips: pd.DataFrame | None, settings: StatisticsSettings
) -> Facts | None:
    """Return what the other placements came to beside `apart`; None where none was measured.

    Keys
    ----
    effects
        Per cell and placement, in this order: study (``streams``: throughput [bit/s];
        ``round_trips``: their median [ns]), condition (of both ends apart), the columns of `POINT`,
        placement; apart and here (estimates), ratio (of here to apart, paired by round), sure
        (stands after Holm's correction for all cells of the study and placement).
    groups
        Per study and placement: n (ratios), n_sure, lowest, highest (value), and once (whether all
        were observed in one round only).
    """
    found = [*_effects(cells, "streams", THROUGHPUT, settings)]
    if round_trips is not None:
        found += _effects(round_trips, "round_trips", "p50_ns", settings)
    if not found:
        return None
    found.sort(key=lambda effect: _group(effect[0]))
    groups = [list(members) for _, members in groupby(found, lambda effect: _group(effect[0]))]
    return {
        "effects": [row for group in groups for row in _corrected(group, settings.confidence)],
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


def _corrected(group: Sequence[_Effect], confidence: float) -> Iterator[Facts]:
    for (effect, _), sure in zip(group, _sure(group, confidence), strict=True):
        yield effect | {"sure": sure}


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
