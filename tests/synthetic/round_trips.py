"""The table of round trips with a known truth."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from synthetic.run import IMPLEMENTATIONS

TAILS = {"p50_ns": 1.0, "p90_ns": 1.3, "p99_ns": 2.0, "p999_ns": 5.0}


@dataclass(frozen=True)
class RoundTrips:
    """What synthetic round trips are like."""

    implementations: Sequence[str] = IMPLEMENTATIONS
    msg_bytes: Sequence[int] = (64, 4096, 65536)
    repetitions: int = 5
    noise: float = 0.02
    seed: int = 1
    log_ratio: Callable[[str, int], float] = lambda name, size: (
        0.3 if name == "zero_copy" and size > 1000 else 0.0
    )
    samples: int = 20000
    copied_share: float = 1.0
    skipped: str | None = None
    interval_us: int = 0


def make_round_trips(trips: RoundTrips) -> pd.DataFrame:
    """Return the columns of the table of round trips that the analysis reads."""
    rng = np.random.default_rng(trips.seed)
    rows = []
    for rep in range(1, trips.repetitions + 1):
        for name in trips.implementations:
            for size in trips.msg_bytes:
                median = (20_000 + 0.4 * size) * math.exp(
                    trips.log_ratio(name, size) + rng.normal(0, trips.noise)
                )
                carried = {"p99_ns": trips.samples >= 1000, "p999_ns": trips.samples >= 10000}
                measured = trips.skipped is None
                row: dict[str, Any] = {
                    "study": "round_trips", "testbed": "veth", "condition": "veth",
                    "implementation": name, "msg_bytes": size, "n_threads": 1,
                    "working_set": "hot", "receiver": "recv", "placement": "apart", "rep": rep,
                    "status": "measured" if measured else "skipped", "reason": trips.skipped,
                    "remedy": None, "warnings": None, "samples": float(trips.samples),
                    "mean_ns": median * 1.1, "max_ns": median * 50,
                    "both_cpu_ns_per_round_trip": median * 0.8,
                    "zc_copied_share": trips.copied_share if name == "zero_copy" else np.nan,
                }  # fmt: skip
                row |= {
                    percentile: median * tail * math.exp(rng.normal(0, trips.noise))
                    if carried.get(percentile, True)
                    else np.nan
                    for percentile, tail in TAILS.items()
                }
                rows.append(row)
    return pd.DataFrame(rows)


def round_trips_config(trips: RoundTrips) -> dict[str, Any]:
    """Return the section of the configuration."""
    return {
        "implementations": list(trips.implementations),
        "testbeds": ["veth"],
        "msg_bytes": list(trips.msg_bytes),
        "n_threads": [1],
    }
