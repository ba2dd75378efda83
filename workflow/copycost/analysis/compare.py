"""Implementations compared by repetition: `results/tables/ratios.csv`."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from copycost.analysis.conditions import KEYS, is_sender_only, with_condition
from copycost.analysis.log_ratios import LogCube
from copycost.analysis.metrics import BASELINE, COMPARED, COMPARED_SENDER_ONLY, verdict
from copycost.config.capabilities import split_implementation
from copycost.config.conditions import Condition
from copycost.stats.ratios import holm, paired_ratio
from copycost.stats.settings import FloatArray, StatisticsSettings

RATIO_COLUMNS = (
    "study", *KEYS, "msg_bytes", "n_threads", "implementation", "baseline", "metric",
    "n_pairs", "ratio", "low", "high", "p_value", "p_holm", "verdict",
)  # fmt: skip
_FAMILY = ["condition", "implementation", "baseline", "metric"]


def compared_pairs(implementations: Iterable[str]) -> list[tuple[str, str]]:
    """Return which implementation is compared with which.

    All with two_copy; zero_copy with one_copy; what differs from another in one thing only with
    that one: io_uring's zero-copy with MSG_ZEROCOPY, many messages per system call with one.
    """
    names = sorted(set(implementations))
    pairs = [(name, BASELINE) for name in names if name != BASELINE and BASELINE in names]
    if {"zero_copy", "one_copy"} <= set(names):
        pairs.append(("zero_copy", "one_copy"))
    if {"uring_zero_copy", "zero_copy"} <= set(names):
        pairs.append(("uring_zero_copy", "zero_copy"))
    for name in names:
        strategy, batch = split_implementation(name)
        if batch > 1 and strategy in names and strategy != BASELINE:
            pairs.append((name, strategy))
    return pairs


def compare(
    cells: pd.DataFrame, settings: StatisticsSettings, metrics: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return the ratio of every pair of implementations in every cell, with its verdict.

    Parameters
    ----------
    cells
        The cells table: one row per repetition.
    metrics
        What to compare; None for throughput and every cost per byte.

    Returns
    -------
    pandas.DataFrame
        Columns `RATIO_COLUMNS`, one row per condition, size, thread count, pair and metric,
        also where nothing was measured (n_pairs 0, NaN, "not measured"). `p_holm` is corrected for
        the number of cells of the same condition, pair and metric; verdicts are of the cell alone.
        Where nobody receives, the costs are the sender's, under their own names.
    """
    rows: list[dict[str, object]] = []
    for key, part in with_condition(cells).groupby(["study", *KEYS], sort=True):
        names = dict(zip(("study", *KEYS), (str(value) for value in key), strict=True))
        place = Condition(*(names[key] for key in KEYS[1:]))
        alone = is_sender_only(place, part)
        points = part[["msg_bytes", "n_threads"]].drop_duplicates()
        index = pd.MultiIndex.from_frame(points).sort_values()
        cube = LogCube(part[part["status"] == "measured"])
        for implementation, baseline in compared_pairs(part["implementation"]):
            for metric in metrics or (COMPARED_SENDER_ONLY if alone else COMPARED):
                logs = cube.pair(metric, implementation, baseline)
                if not logs.index.equals(index):
                    logs = logs.reindex(index)
                head = names | {"metric": metric}
                pair = {"implementation": implementation, "baseline": baseline}
                rows.extend(head | pair | row for row in _rows(logs, metric, settings))
    table = pd.DataFrame(rows, columns=list(RATIO_COLUMNS))
    if not table.empty:
        table["p_holm"] = table.groupby(_FAMILY)["p_value"].transform(
            lambda values: holm(values.to_numpy(dtype=np.float64))
        )
    order: Sequence[str] = ["condition", "implementation", "baseline", "metric"]
    return table.sort_values([*order, "msg_bytes", "n_threads"], kind="stable", ignore_index=True)


def _rows(
    logs: pd.DataFrame, metric: str, settings: StatisticsSettings
) -> Iterable[dict[str, object]]:
    matrix: FloatArray = logs.to_numpy(dtype=np.float64)
    for (msg_bytes, n_threads), row in zip(logs.index, matrix, strict=True):
        found = paired_ratio(row, settings.confidence)
        yield {
            "msg_bytes": msg_bytes,
            "n_threads": n_threads,
            "n_pairs": found.n_pairs,
            "ratio": found.value,
            "low": found.low,
            "high": found.high,
            "p_value": found.p_value,
            "verdict": verdict(metric, found.direction),
        }
