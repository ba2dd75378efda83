"""Everything that the chapter on datagrams says, as numbers and verdicts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.analysis.stats.estimates import estimate
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.analysis.stats.two_terms import METHOD, fit_two_terms
from copycost.analysis.wire import NEAR
from copycost.records.columns import SIDES
from copycost.studies.datagrams.records import CAUSES
from copycost.studies.shared_facts import (
    curve_facts,
    n_flagged,
    outcome_facts,
    party_estimates,
    series_of,
    with_interval,
    with_published,
)

SERIES = ("testbed", "implementation", "n_threads")

# what the chapter tells of the configuration
_TOLD = ("implementations", "repetitions", "warmup_s", "duration_s")
_ESTIMATED = (
    "sent_bits_per_s", "bits_per_s", "sender_cpu_percent", "receiver_cpu_percent", "sender_ns",
    "receiver_ns",
)  # fmt: skip
# the fit is no description of sizes whose cost lies further off it
_MISFIT = 0.25
# the driver's loss and the kernel's differ by more than this share of what was sent
_LOSS_DIFFERS = 0.005
# by which a size of ours may differ from the published one that it stands for
_NEAR_SIZE = 0.01
_SAME = ("msg_bytes", "sent_bits_per_s", "loss", "sender_cpu_percent", "receiver_cpu_percent")


def compute_facts(
    table: pd.DataFrame,
    section: Mapping[str, Any],
    statistics: StatisticsSettings,
    published: pd.DataFrame,
) -> Facts:
    """Return the facts; `published` is ``data/published/cpu-overhead-udp.csv``."""
    measured = table[table["status"] == "measured"]
    clocks = measured["cpu_clock"].dropna().unique()
    curves = [_curve(key, rows, statistics) for key, rows in series_of(measured, SERIES)]
    published = published.rename(columns={"datagram_bytes": "msg_bytes"})
    return {
        "section": {name: section[name] for name in _TOLD},
        **outcome_facts(table, statistics, (*SERIES, "msg_bytes")),
        "method": METHOD,
        # whose clock CPU use is by; mixed where perf counted in part
        "cpu_clock": "mixed" if len(clocks) > 1 else next(map(str, clocks), None),
        "n_nan": n_flagged(measured, "iperf3_nan"),
        "emulated": any(curve["emulated"] for curve in curves),
        "account": _account(measured),
        "cross_check": _cross_check(measured),
        "curves": curves,
        "published": with_published(published, curves, _like, "_udp"),
        "near_size": _NEAR_SIZE,
    }


def _curve(key: Mapping[str, Any], rows: pd.DataFrame, statistics: StatisticsSettings) -> Facts:
    """Return the facts of a curve from its measured repetitions."""
    points: list[Facts] = [
        {
            "msg_bytes": int(part["msg_bytes"].iloc[0]),
            "n": len(part),
            **{name: estimate(part[name], statistics) for name in _ESTIMATED},
            "loss": estimate(part["lost"] / part["sent"], statistics, is_share=True),
            "limit": estimate(part["rate_limit_bits_per_s"], statistics),
            "parties": party_estimates(part, statistics),
        }
        for _, part in rows.groupby("msg_bytes")
    ]
    most = max(points, key=lambda point: float(point["bits_per_s"]["median"]))
    with_loss = [point for point in points if point["loss"]]
    return curve_facts(key, rows, points, "{side}_cpu_percent") | {
        "account": _account(rows),
        "limit": _limit(points),
        "maximum": {name: most[name] for name in ("msg_bytes", "bits_per_s", "loss")},
        "costs": {side: _cost(rows, side, statistics) for side in SIDES},
        "most_loss": max(with_loss, key=lambda point: point["loss"]["median"], default=None),
    }


def _limit(points: Sequence[Facts]) -> Facts | None:
    """Return what the senders of a curve were to send at most; None for any number."""
    limits = {point["msg_bytes"]: point["limit"]["median"] for point in points if point["limit"]}
    if not limits:
        return None
    sent = {point["msg_bytes"]: point["sent_bits_per_s"]["median"] for point in points}
    return {
        # payload at the size that is allowed least, and most [bit/s]
        "low": min(limits.values()),
        "high": max(limits.values()),
        # those at which they sent nearly as much, so that it sets the bitrate
        "sizes": [size for size, limit in limits.items() if sent[size] >= NEAR * limit],
        "n_sizes": len(points),  # how many there are
    }


def _cost(measured: pd.DataFrame, side: str, statistics: StatisticsSettings) -> Facts | None:
    """Return the two terms of one side's CPU time per datagram; None where no two sizes give it.

    `kind` says which of them are seen: an interval that holds 0 shows none.
    """
    known = measured.dropna(subset=f"{side}_ns").groupby("msg_bytes")[f"{side}_ns"]
    costs = {int(str(size)): of.to_numpy(dtype=np.float64) for size, of in known}
    found = fit_two_terms(costs, statistics.confidence)
    if found is None:
        return None
    # a term is seen where there is no interval, too: NaN
    lows = {"per_datagram": found.fixed_low, "per_byte": found.per_byte_low}
    seen = [name for name, low in lows.items() if not low <= 0]
    kind = "both" if len(seen) > 1 else next(iter(seen), "neither")
    return {
        "fixed_ns": with_interval(found.fixed, found.fixed_low, found.fixed_high),
        "ns_per_byte": with_interval(found.per_byte, found.per_byte_low, found.per_byte_high),
        "misfit": found.misfit,
        "kind": "no_sum" if found.misfit > _MISFIT else kind,
    }


def _account(measured: pd.DataFrame) -> Facts | None:
    """Return whether the causes add up to what was lost, in every repetition."""
    known = measured.dropna(subset="lost")
    if known.empty:
        return None
    unaccounted, sent = known["lost_unaccounted"], int(known["sent"].sum())
    lost = float(known["lost"].sum())
    return {
        "n": len(known),
        "n_complete": int((unaccounted == 0).sum()),
        **{
            # in how many repetitions, by how many datagrams at most, and the largest share of those
            # that were sent
            name: {
                "n": int((off > 0).sum()),
                "largest": int(max(0, off.max())),
                "share": float(max(0.0, (off / known["sent"]).max())),
            }
            for name, off in (("missing", unaccounted), ("excess", -unaccounted))
        },
        "n_not_drained": int((~known["drained"].astype(bool)).sum()),
        "sent": sent,
        "lost": int(lost),
        "lost_share": lost / sent if lost else 0.0,
        "causes": [
            {"cause": cause, "share": float(known[f"lost_{cause}"].sum()) / lost}
            for cause in CAUSES
            if lost > 0 and known[f"lost_{cause}"].sum() > 0
        ],
    }


def _cross_check(measured: pd.DataFrame) -> Facts | None:
    """Return how the driver's own loss compares with the kernel's over the whole test."""
    known = measured.dropna(subset=["driver_lost", "kernel_lost", "kernel_sent"])
    if known.empty:
        return None
    less = (known["kernel_lost"] - known["driver_lost"]) / known["kernel_sent"]
    return {
        "n": len(known),
        "n_differ": int((less.abs() > _LOSS_DIFFERS).sum()),
        "allowed": _LOSS_DIFFERS,
        "largest_less": float(less.max()),
        "largest_more": float(-less.min()),
        "n_negative": int((known["driver_lost"] < 0).sum()),
        "n_out_of_order": int((known["driver_out_of_order"] > 0).sum()),
    }


def _like(row: Facts, curve: Facts) -> Facts | None:
    """Return the point of a curve at the size nearest to a published one, if it is near enough."""
    wanted = row["msg_bytes"]
    point = min(curve["points"], key=lambda one: abs(one["msg_bytes"] - wanted))
    if abs(point["msg_bytes"] - wanted) > _NEAR_SIZE * wanted:
        return None
    naming = {key: curve[key] for key in ("testbed", "implementation", "emulated")}
    return naming | {key: point[key] for key in _SAME}
