"""From the table of repetitions to points: medians with intervals at each CPU limit."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from copycost.hosts.side import SIDES
from copycost.stats.estimates import Estimate, estimate
from copycost.stats.settings import FloatArray, StatisticsSettings
from copycost.studies.guests import party_estimates, party_values

SERIES = ["testbed", "implementation", "limiter", "n_threads"]
"""What tells one curve of bitrate against CPU from another."""


@dataclass(frozen=True, slots=True)
class Point:
    """One CPU limit of one curve."""

    # per stream, and for all senders together [% of one CPU]
    limit_percent: int
    offered_percent: float
    n: int  # repetitions that were measured [count]
    # CPU used [% of one CPU]
    sender: Estimate
    receiver: Estimate
    bits_per_s: Estimate  # payload received [bit/s]
    # the repetitions behind these, in the same order
    sender_values: FloatArray
    receiver_values: FloatArray
    bitrates: FloatArray
    saturated: bool  # in most repetitions the senders could not use what they were offered
    n_missed: int  # repetitions in which the limiter missed [count]
    # median time without a CPU though runnable [% of one CPU]; None where nobody tells
    sender_waiting: float | None
    receiver_waiting: float | None
    # what else used CPU, see `copycost.studies.guests`: the repetitions, and their medians
    party_values: Mapping[str, FloatArray]
    parties: Mapping[str, Estimate]
    # by side with a guest of its own, the threads that run its virtual CPUs [count]
    vcpu_threads: Mapping[str, int]

    def cpu(self, party: str) -> FloatArray:
        """Return the repetitions' CPU use of a side or of another party [% of one CPU]."""
        sides = {"sender": self.sender_values, "receiver": self.receiver_values}
        return sides[party] if party in sides else self.party_values[party]


def series_of(table: pd.DataFrame) -> Iterator[tuple[dict[str, object], pd.DataFrame]]:
    """Yield each curve's key and its rows, in the order of the table."""
    for key, rows in table.groupby(SERIES, sort=False):
        values = key if isinstance(key, tuple) else (key,)
        yield dict(zip(SERIES, values, strict=True)), rows


def points_of(rows: pd.DataFrame, settings: StatisticsSettings) -> list[Point]:
    """Return the points of one curve, from the least CPU offered to the most."""
    found = []
    measured = rows[(rows["status"] == "measured") & rows["bits_per_s"].notna()]
    for limit, part in measured.groupby("limit_percent"):
        sender = part["sender_cpu_percent"].to_numpy(dtype=np.float64)
        receiver = part["receiver_cpu_percent"].to_numpy(dtype=np.float64)
        rates = part["bits_per_s"].to_numpy(dtype=np.float64)
        others = party_values(part)
        most = 100.0 * float(part["n_threads"].iloc[0])  # each stream has one thread at each side
        found.append(
            Point(
                int(str(limit)),
                float(part["offered_percent"].iloc[0]),
                len(part),
                _estimate(sender, settings, most),
                _estimate(receiver, settings, most),
                _estimate(rates, settings),
                sender,
                receiver,
                rates,
                bool(part["saturated"].astype(bool).mean() > 0.5),
                int(part["limiter_missed"].astype(bool).sum()),
                _median(part["sender_waiting_percent"]),
                _median(part["receiver_waiting_percent"]),
                others,
                party_estimates(others, settings),
                _vcpu_threads(part),
            )
        )
    return found


def _estimate(values: FloatArray, settings: StatisticsSettings, most: float = math.inf) -> Estimate:
    found = estimate(values, settings, most=most)
    assert found is not None  # a point has repetitions
    return found


def _vcpu_threads(part: pd.DataFrame) -> dict[str, int]:
    counts = {side: part[f"{side}_vcpu_threads"].dropna() for side in SIDES}
    return {side: int(of.max()) for side, of in counts.items() if not of.empty}


def _median(values: pd.Series) -> float | None:
    known = values.dropna()
    return None if known.empty else float(known.astype(float).median())
