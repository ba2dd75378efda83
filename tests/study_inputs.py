"""What the facts of cpu_budget and datagrams are computed from besides their tables."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from copycost.stats.settings import StatisticsSettings

STATISTICS = StatisticsSettings(0.95, 1000, 1)
_PUBLISHED = Path(__file__).parents[1] / "data" / "published"


class CurveTruth(Protocol):
    """One curve's truth, as far as it shows in the configuration."""

    @property
    def testbed(self) -> str: ...
    @property
    def implementation(self) -> str: ...
    @property
    def n_threads(self) -> int: ...


def section_of(truths: Sequence[CurveTruth], repetitions: int) -> dict[str, Any]:
    """Return what the sections of both studies state."""
    implementations = list(dict.fromkeys(truth.implementation for truth in truths))
    return {
        "enabled": True,
        "implementations": implementations or ["iperf3"],
        "testbeds": list(dict.fromkeys(truth.testbed for truth in truths)),
        "n_threads": sorted({truth.n_threads for truth in truths}),
        "repetitions": repetitions,
        "warmup_s": 0.3,
        "duration_s": 1.0,
    }


def published(protocol: str) -> pd.DataFrame:
    """Return the published table for ``tcp`` or ``udp``."""
    return pd.read_csv(_PUBLISHED / f"cpu-overhead-{protocol}.csv")
