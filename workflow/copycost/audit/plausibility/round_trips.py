"""What no connection can do: more round trips than there is time for, or faster than calls."""

from collections.abc import Iterator

import pandas as pd

from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.limits import LEAST_CALL_S
from copycost.audit.quantities import LATENCY, THREADS
from copycost.audit.wording import cell_names

CALLS = 4
"""Of a round trip: a request and its reply, each sent and received."""

_TOLERANCE = 1.02
"""The window's edges are seen some microseconds late."""


def check_round_trips(table: pd.DataFrame, dataset: str) -> Iterator[Finding]:
    """Yield what speaks against the times of round trips.

    Parameters
    ----------
    table
        As the study's table: a row per repetition.
    dataset
        Its name.
    """
    rows = table[(table["status"] == "measured") & (table["samples"] > 0)]
    # With an interval, times count from when a request was due, and may lie over one another.
    waiting = rows[rows["interval_ns"] == 0]
    # Those that began in the sender's window: of each connection one may have ended behind it, be
    # the sender held up for as long as it may.
    limit_ns = waiting[THREADS] * (waiting["window_s"] * 1e9 + waiting["max_ns"])
    share = waiting["samples"] * waiting["mean_ns"] / limit_ns
    many = waiting[share > _TOLERANCE]
    if not many.empty:
        yield Finding(
            "round_trips", "more_round_trips_than_time", Kind.IMPOSSIBLE, Sureness.CERTAIN, dataset,
            (LATENCY,), {"n_rows": len(many), "of_rows": len(rows), "most": float(share.max())},
            cell_names(many),
        )  # fmt: skip
    floor_ns = CALLS * LEAST_CALL_S * 1e9
    short = rows[rows["p50_ns"] < floor_ns]
    if not short.empty:
        yield Finding(
            "round_trips", "short_round_trips", Kind.IMPOSSIBLE, Sureness.VERY_LIKELY, dataset,
            (LATENCY,), {"least_ns": float(short["p50_ns"].min()), "floor_ns": round(floor_ns)},
            cell_names(short),
        )  # fmt: skip
