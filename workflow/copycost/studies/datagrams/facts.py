"""Everything that the chapter on datagrams says, as numbers and verdicts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.json_values import plain
from copycost.analysis.wire import NEAR
from copycost.config.testbeds import without_guests
from copycost.records.columns import SIDES
from copycost.records.cpu_attribution import EMULATED
from copycost.stats.estimates import estimate
from copycost.stats.settings import StatisticsSettings
from copycost.stats.two_terms import METHOD, TwoTerms, fit_two_terms
from copycost.studies.datagrams.loss import CAUSES
from copycost.studies.shared_facts import (
    curve_facts,
    flag_counts,
    guests_among,
    outcome_facts,
    party_estimates,
    party_values,
    with_interval,
)

# the testbed of ours for each published scenario, of one stream
_PUBLISHED_TESTBEDS = {
    "host-loopback": "loopback_udp",
    "vm-loopback": "vm_loopback_udp",
    "vm-to-vm": "vm_pair_udp",
}
# by which a size of ours may differ from the published one that it stands for
NEAR_SIZE = 0.01
_SAME = ("msg_bytes", "sent_bits_per_s", "loss", "sender_cpu_percent", "receiver_cpu_percent")


def other_packets(measured: pd.DataFrame) -> list[dict[str, Any]]:
    """Return where datagrams go in other packets in guests than without them.

    Of the largest datagram that was sent on both testbeds, the packets that it takes on either.
    """
    by_testbed = {str(name): rows for name, rows in measured.groupby("testbed", sort=False)}
    found = []
    for testbed, here in by_testbed.items():
        without = without_guests(testbed)
        there = by_testbed.get(without or "")
        if there is None:
            continue
        mtus = [set(rows["mtu_bytes"].dropna()) for rows in (here, there)]
        sizes = set(here["msg_bytes"]) & set(there["msg_bytes"])
        if not sizes or mtus[0] == mtus[1] or [len(one) for one in mtus] != [1, 1]:
            continue
        packets = [
            int(rows.loc[rows["msg_bytes"] == max(sizes), "packets_each"].max())
            for rows in (here, there)
        ]
        pair = {
            "condition": testbed,
            "without": without,
            "accelerator": EMULATED if (here["accelerator"] == EMULATED).any() else None,
            "msg_bytes": int(max(sizes)),
            "packets": packets[0],
            "without_packets": packets[1],
        }
        found.append(pair)
    return found


def with_published(
    curves: Sequence[Mapping[str, Any]], published: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return the published rows, each with what was measured here of such datagrams.

    Those are the points of curves of one stream on the same kind of path, at the size nearest to
    the published one, which differs from it by `NEAR_SIZE` at most.
    """
    renamed = published.rename(columns={"datagram_bytes": "msg_bytes"})

    def ours(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        wanted = row["msg_bytes"]
        for curve in curves:
            same_path = curve["testbed"] == _PUBLISHED_TESTBEDS.get(row["scenario"])
            if same_path and curve["n_threads"] == 1:
                point = min(curve["points"], key=lambda one: abs(one["msg_bytes"] - wanted))
                if abs(point["msg_bytes"] - wanted) <= NEAR_SIZE * wanted:
                    naming = {key: curve[key] for key in ("testbed", "implementation", "emulated")}
                    yield naming | {key: point[key] for key in _SAME}

    return [{**row, "ours": list(ours(row))} for row in plain(renamed.to_dict(orient="records"))]


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


def compute_facts(
    table: pd.DataFrame,
    section: Mapping[str, Any],
    statistics: StatisticsSettings,
    published: pd.DataFrame,
) -> dict[str, Any]:
    """Return the facts; `published` is ``data/published/cpu-overhead-udp.csv``."""
    measured = table[table["status"] == "measured"]
    clocks = sorted({str(clock) for clock in measured["cpu_clock"].dropna()})
    curves = [
        _curve(key, rows, statistics)
        for key, rows in table.groupby(list(SERIES), sort=False)
        if (rows["status"] == "measured").any()
    ]
    return {
        "section": {name: section[name] for name in _TOLD},
        **outcome_facts(table, statistics, (*SERIES, "msg_bytes")),
        "method": METHOD,
        # whose clock CPU use is by; mixed where perf counted in part
        "cpu_clock": "mixed" if len(clocks) > 1 else next(iter(clocks), None),
        "n_nan": flag_counts(measured).get("iperf3_nan", 0),
        "guests": guests_among(curves),
        "account": _account(measured),
        "cross_check": _cross_check(measured),
        "curves": curves,
        "other_packets": other_packets(measured),
        "published": with_published(curves, published),
        "near_size": NEAR_SIZE,
    }


def _curve(key: Any, rows: pd.DataFrame, statistics: StatisticsSettings) -> dict[str, Any]:  # noqa: ANN401
    measured = rows[rows["status"] == "measured"]
    points: list[dict[str, Any]] = [
        {
            "msg_bytes": int(str(size)),
            "n": len(part),
            **{name: estimate(part[name], statistics) for name in _ESTIMATED},
            "loss": estimate(part["lost"] / part["sent"], statistics, is_share=True),
            "limit": estimate(part["rate_limit_bits_per_s"], statistics),
            "parties": party_estimates(party_values(part), statistics),
        }
        for size, part in measured.groupby("msg_bytes")
    ]
    most = max(points, key=lambda point: float(point["bits_per_s"]["median"]))
    curve = curve_facts(dict(zip(SERIES, key, strict=True)), rows, points, "{side}_cpu_percent")
    return curve | {
        "account": _account(measured),
        "limit": _limit(points),
        "maximum": {name: most[name] for name in ("msg_bytes", "bits_per_s", "loss")},
        "costs": {side: _cost(measured, side, statistics) for side in SIDES},
        "most_loss": max(
            (point for point in points if point["loss"] is not None),
            key=lambda point: float(point["loss"]["median"]),
            default=None,
        ),
    }


def _limit(points: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return what the senders of a curve were to send at most; None for any number."""
    limited = [point for point in points if point["limit"]]
    if not limited:
        return None
    medians = [float(point["limit"]["median"]) for point in limited]
    held = [
        point["msg_bytes"]
        for point, most in zip(limited, medians, strict=True)
        if float(point["sent_bits_per_s"]["median"]) >= NEAR * most
    ]
    return {
        # payload at the size that is allowed least, and most [bit/s]
        "low": min(medians),
        "high": max(medians),
        # those at which they sent at least `near` of it, so that it sets the bitrate
        "sizes": held,
        "n_sizes": len(points),  # how many there are
        "near": NEAR,  # the share
    }


def _cost(
    measured: pd.DataFrame, side: str, statistics: StatisticsSettings
) -> dict[str, Any] | None:
    """Return the two terms of one side's CPU time per datagram; None where no two sizes give it."""
    costs = {
        int(str(size)): part[f"{side}_ns"].dropna().to_numpy(dtype=np.float64)
        for size, part in measured.groupby("msg_bytes")
    }
    found = fit_two_terms({size: v for size, v in costs.items() if v.size}, statistics.confidence)
    if found is None:
        return None
    facts = {
        "fixed_ns": with_interval(found.fixed, found.fixed_low, found.fixed_high),
        "ns_per_byte": with_interval(found.per_byte, found.per_byte_low, found.per_byte_high),
        "misfit": found.misfit,
        "kind": _kind(found),
    }
    return dict(plain(facts))


def _kind(found: TwoTerms) -> str:
    """Return which of the two terms are seen; an interval that holds 0 shows none."""
    if found.misfit > _MISFIT:
        return "no_sum"
    # no term is hidden where there is no interval: NaN
    hidden = found.fixed_low <= 0, found.per_byte_low <= 0
    return {
        (True, True): "neither",
        (False, True): "per_datagram",
        (True, False): "per_byte",
        (False, False): "both",
    }[hidden]


def _account(measured: pd.DataFrame) -> dict[str, Any] | None:
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


def _cross_check(measured: pd.DataFrame) -> dict[str, Any] | None:
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
