"""What else a run has: round trips, made up for tests of the report."""

import math
from pathlib import Path
from typing import Any

import pandas as pd
from sample_records import sample_record, with_round_trips

from copycost.records.record import write_record
from copycost.studies.round_trips.table import collect_round_trips

CONFIG = {
    "implementations": ["two_copy", "one_copy", "zero_copy"],
    "testbeds": ["veth"],
    "msg_bytes": [64, 4096, 65536],
    "n_threads": [1],
}
"""The section `round_trips` of the configuration."""

_NINES = [nine / 12 for nine in range(49)]


def write_round_trips(folder: Path) -> tuple[pd.DataFrame, Path]:
    """Write records of round trips and their tables; return the table and the path of curves."""
    paths = []
    for place, name in enumerate(CONFIG["implementations"]):
        for size in CONFIG["msg_bytes"]:
            for rep in (1, 2, 3):
                start_ns = 2_000_000_000 * (len(paths) + 1)
                record = with_round_trips(
                    sample_record(name, msg_bytes=size, rep=rep, start_ns=start_ns)
                )
                median_ns = (20_000 + size * 0.4) * (1 + 0.1 * place) * (1 + 0.01 * rep)
                record["driver"]["sender"]["round_trip"] |= _times(median_ns)
                path = folder / (
                    f"raw/round_trips/testbed=veth/implementation={name}/msg_bytes={size}"
                    f"/n_threads=1/working_set=hot/receiver=recv/placement=apart/rep={rep}.json"
                )
                path.parent.mkdir(parents=True, exist_ok=True)
                write_record(record, path)
                paths.append(path)
    curves = folder / "round_trip_curves.csv"
    table, _ = collect_round_trips(paths, folder / "round_trips.csv", curves)
    return table, curves


def _times(median_ns: float) -> dict[str, Any]:
    """Return percentiles of a distribution with a long tail; too few samples for p99.9."""

    def at(quantile: float) -> int:
        nines = -math.log10(1 - quantile)
        return round(median_ns * (0.85 + 0.45 * nines + 0.12 * nines**2.2))

    quantiles = [1 - 10**-nine for nine in _NINES if nine <= 3]
    return {
        "samples": 4000,
        "mean_ns": median_ns * 1.1,
        "p50_ns": at(0.5),
        "p90_ns": at(0.9),
        "p99_ns": at(0.99),
        "p999_ns": None,
        "max_ns": at(0.9999),
        "percentiles": [[quantile, at(quantile)] for quantile in quantiles],
    }
