"""Tables of measurements made from a small noisy model, as a careful author would write them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from copycost.audit.dataset import Dataset
from copycost.audit.mapping import FileMapping
from copycost.audit.plausibility import Finding, check_plausibility
from copycost.audit.reader import read_dataset
from copycost.audit.templates import found_by, reason_against
from copycost.records.columns import COLUMNS
from copycost.records.table import write_table

SIZES = (1024, 4096, 16384, 65536, 262144)
THREADS = (1, 2, 4, 8)
DURATION_S = 5.0
GUESSED = FileMapping()


@dataclass(frozen=True)
class Model:
    """What the made run is like."""

    noise: float = 0.02
    repetitions: int = 3
    seed: int = 1
    digits: int = 4
    sizes: Sequence[int] = SIZES
    threads: Sequence[int] = THREADS


def make_table(model: Model = Model()) -> pd.DataFrame:
    """Return a plausible table: every column has noise of its own."""
    rng = np.random.default_rng(model.seed)
    rows = []

    def noisy(value: float) -> float:
        rounded = value * np.exp(rng.normal(0, model.noise))
        return float(f"{rounded:.{model.digits}g}")

    for name, call_s, byte_s in (
        ("two_copy", 2e-6, 0.11e-9),
        ("one_copy", 2.3e-6, 0.08e-9),
        ("zero_copy", 4e-6, 0.07e-9),
    ):
        for size in model.sizes:
            for n_threads in model.threads:
                for rep in range(1, model.repetitions + 1):
                    time_s = (call_s + size * byte_s) * (1 + 0.3 * np.log2(n_threads))
                    rate = noisy(size * 8 * n_threads / time_s * 1e-9)
                    moved = rate * 1e9 / 8 * DURATION_S
                    rows.append({
                        "impl": name, "size": size, "threads": n_threads, "rep": rep,
                        "duration_s": DURATION_S,
                        "throughput_gbps": rate,
                        "latency_us": noisy(time_s * 1e6),
                        "cycles": noisy(moved * (1.5 + 4000 / size)),
                        "instructions": noisy(moved * (1.1 + 5000 / size)),
                        "L1": noisy(moved * (0.02 + 30 / size)),
                        "LLC": noisy(moved * 0.004),
                        "context_switches": round(noisy(moved / size * 0.01 + 10)),
                    })  # fmt: skip
    return pd.DataFrame(rows)


def read_frame(table: pd.DataFrame, folder: Path, mapping: FileMapping = GUESSED) -> Dataset:
    """Write a table as CSV and read it as a foreign one."""
    path = folder / "made.csv"
    table.to_csv(path, index=False)
    return read_dataset(path, mapping)


def write_cells(cells: pd.DataFrame, folder: Path) -> Path:
    """Write cells of copycost as its own runs do; return the CSV file."""
    cells = cells.reindex(columns=[column.name for column in COLUMNS])
    cells = cells.astype({column.name: column.dtype for column in COLUMNS})
    write_table(cells, folder / "cells.csv", folder / "cells.parquet")
    return folder / "cells.csv"


def findings_of(table: pd.DataFrame, folder: Path) -> list[Finding]:
    """Return what the checks find in a table."""
    return check_plausibility(read_frame(table, folder))


def changed(column: str, change: Callable[[pd.DataFrame], object], **model: int) -> pd.DataFrame:
    """Return a plausible table with one column made anew."""
    table = make_table(Model(**model))  # type: ignore[arg-type]
    return table.assign(**{column: change(table)})


def words_of(finding: Finding) -> str:
    """Return all that is said of a finding."""
    return f"{found_by(finding)} {reason_against(finding)}"
