"""How often things happened whose price in time is not known: for two sides of a comparison."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View, complete_block
from copycost.analysis.json_values import Facts
from copycost.analysis.ratio_facts import ratio_facts
from copycost.analysis.together import together
from copycost.stats.groups import signs_after_holm
from copycost.stats.ratios import Ratio, paired_ratio
from copycost.stats.settings import FloatArray

_PER_MESSAGE = {
    "calls": "sender_syscalls_per_message",
    "switches": "context_switches_per_message",
}
_PER_GIGABYTE = {"resent": ("tcp_retransmits",), "faults": ("sender_page_faults",
                                                            "receiver_page_faults")}  # fmt: skip
_GIGA = 1e9


def differing_rates(
    view: View, implementation: str, baseline: str, cells: Sequence[tuple[int, int]]
) -> Facts:
    """Return which rates of two implementations differ, in the cells where something is explained.

    Keys
    ----
    differ
        Those that differ after Holm's correction for all of them, and those whose cells contradict
        each other: name; here, there (the rates of the two: per message, the geometric mean over
        the cells; per 10^9 bytes received, all cells together); ratio (None where one of them is
        0, or where only totals are compared); n_cells, n_above, n_below, contradict, halves
        (see `copycost.analysis.together`).
    alike
        Names of those that were counted and not shown to differ.
    resent_share
        Bytes sent again, as a share of those received, if each segment was of the largest size;
        None where unknown.
    """
    found: dict[str, tuple[Ratio, Facts]] = {}
    for name, column in _PER_MESSAGE.items():
        per_message = _per_message(view, column, implementation, baseline, cells)
        if per_message is not None:
            found[name] = per_message
    for name, columns in _PER_GIGABYTE.items():
        per_byte = _per_gigabyte(view, columns, (implementation, baseline), cells)
        if per_byte is not None:
            found[name] = per_byte
    ratios = [ratio for ratio, _ in found.values()]
    p_values = [ratio.p_value for ratio in ratios]
    signs = signs_after_holm(ratios, p_values, view.settings.confidence)
    differ = {
        name: sign != 0 or facts["contradict"]
        for (name, (_, facts)), sign in zip(found.items(), signs, strict=True)
    }
    return {
        "differ": [{"name": name} | found[name][1] for name, does in differ.items() if does],
        "alike": [name for name, does in differ.items() if not does],
        "resent_share": _resent_share(_rows(view, implementation, cells)),
    }


def _rows(view: View, name: str, cells: Sequence[tuple[int, int]]) -> pd.DataFrame:
    rows = view.of(name)
    index = pd.MultiIndex.from_frame(rows[["msg_bytes", "n_threads"]])
    return rows[index.isin(list(cells))]


def _per_message(
    view: View, column: str, implementation: str, baseline: str, cells: Sequence[tuple[int, int]]
) -> tuple[Ratio, Facts] | None:
    if not view.counted(column):
        return None
    logs = view.logs(column, implementation, baseline)
    logs = logs[logs.index.isin(list(cells))]
    found = together(view, logs)
    if found is None:
        return None
    # of the rounds and cells that the ratio is of, so that it is the quotient of the two
    rows, rounds = complete_block(logs.to_numpy(dtype=np.float64))
    index, columns = logs.index[rows], logs.columns[rounds]
    means = [
        float(np.exp(level.loc[index, columns].to_numpy().mean()))
        for level in view.levels(column, implementation, baseline)
    ]
    ratio = {key: found[key] for key in ratio_facts(view.pooled(logs))}
    cell = {key: value for key, value in found.items() if key not in ratio}
    return view.pooled(logs), {"here": means[0], "there": means[1], "ratio": ratio} | cell


def _per_gigabyte(
    view: View,
    columns: Sequence[str],
    names: tuple[str, str],
    cells: Sequence[tuple[int, int]],
) -> tuple[Ratio, Facts] | None:
    totals: list[pd.DataFrame] = []
    for name in names:
        rows = _rows(view, name, cells)
        known = [column for column in columns if rows[column].notna().any()]
        if not known:
            return None
        counts = rows[known].sum(axis=1, min_count=len(known))
        table = pd.DataFrame({"count": counts, "bytes": rows["received_bytes"]}).dropna()
        totals.append(table.groupby(rows["rep"]).sum())
    both = totals[0].index.intersection(totals[1].index)
    if both.empty:
        return None
    by_round = [one.loc[both, "count"] / one.loc[both, "bytes"] * _GIGA for one in totals]
    difference: FloatArray = (by_round[0] - by_round[1]).to_numpy(np.float64)
    rates = [float(one["count"].sum() / one["bytes"].sum() * _GIGA) for one in totals]
    # Only the test is of interest, for which the unit does not matter.
    scale = float(np.abs(difference).max()) or 1.0
    found = paired_ratio(difference / scale, view.settings.confidence)
    plain: Facts = {"ratio": None, "n_cells": len(cells), "n_above": 0, "n_below": 0}
    plain |= {"contradict": False, "halves": []}
    return found, {"here": rates[0], "there": rates[1]} | plain


def _resent_share(rows: pd.DataFrame) -> float | None:
    known = rows[["tcp_retransmits", "mss_bytes", "received_bytes"]].dropna()
    total = float(known["received_bytes"].sum())
    if not total:
        return None
    return float((known["tcp_retransmits"] * known["mss_bytes"]).sum()) / total
