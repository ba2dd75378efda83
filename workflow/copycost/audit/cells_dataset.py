"""A table of cells of copycost (`results/tables/cells.csv`) as a dataset to audit."""

from pathlib import Path

import numpy as np
import pandas as pd

from copycost.analysis.conditions import with_condition
from copycost.audit.dataset import KEYS, Dataset
from copycost.audit.mapping import FileMapping, Meaning
from copycost.audit.message import Message
from copycost.audit.number_parsing import LARGEST
from copycost.audit.quantities import DATASET, words_of
from copycost.config.testbeds import receives_on
from copycost.errors import DataError
from copycost.records.table import read_table

_MARKS = ("throughput_bits_per_s", "sender_cycles_status", "host_digest")
_MEANT = {
    "throughput_bits_per_s": ("throughput", 1.0),
    "service_mean_ns": ("latency", 1e-9),
    "service_p99_ns": ("latency_p99", 1e-9),
    "window_s": ("duration", 1.0),
    "received_bytes": ("bytes", 1.0),
    "messages": ("messages", 1.0),
    "zc_copied_share": ("copied_share", 1.0),
}
_SUMS = {
    "cycles": ("cycles", 1.0),
    "instructions": ("instructions", 1.0),
    "l1d_load_misses": ("l1d_misses", 1.0),
    "llc_load_misses": ("llc_misses", 1.0),
    "cache_misses": ("cache_misses", 1.0),
    "context_switches": ("context_switches", 1.0),
    "cpu_ns": ("cpu_time", 1e-9),
}


def is_cells_table(text: str) -> bool:
    """Tell whether a text begins with the header of a table of cells of copycost."""
    names = text.partition("\n")[0].strip().split(",")
    return all(mark in names for mark in _MARKS)


def read_cells_table(path: Path, digest: str, mapping: FileMapping) -> Dataset:
    """Read a table of cells; sender and receiver are added up.

    Raises
    ------
    DataError
        If it is no whole table, or nothing in it was measured.
    """
    try:
        cells = read_table(path)
    except OverflowError as error:
        raise DataError(
            f"{path}: holds a whole number of more than 19 digits; expected a table of cells as "
            "copycost writes it: correct it, or make it again from its records"
        ) from error
    return dataset_of_cells(cells, path, digest, mapping)


def dataset_of_cells(cells: pd.DataFrame, path: Path, digest: str, mapping: FileMapping) -> Dataset:
    """Return a table of cells as a dataset; `path` is what sentences call it.

    Raises
    ------
    DataError
        If nothing in it was measured, or a value is beyond all that anybody measures.
    """
    measured = cells[cells["status"] == "measured"].reset_index(drop=True)
    if measured.empty:
        raise DataError(f"{path}: no repetition was measured; there is nothing to audit")
    table = measured[list(KEYS[1:])].copy()
    table.insert(0, DATASET, with_condition(measured)["condition"].astype(str))
    found: dict[str, str] = {}
    for column, (name, factor) in _MEANT.items():
        table[name] = measured[column] * factor
        found[column] = name
    # Where nobody does, the sender's counts are all there are.
    somebody_receives = measured["testbed"].map(receives_on)
    for event, (name, factor) in _SUMS.items():
        received = measured[f"receiver_{event}"].where(somebody_receives, 0.0)
        table[name] = (measured[f"sender_{event}"] + received) * factor
        found[f"sender_{event}, receiver_{event}"] = name
    for name in set(table.columns) - set(KEYS):
        most = table[name].abs().max()
        if most > LARGEST:
            raise DataError(
                f"{path}: {most:g} is no {words_of(name)} that anybody measures; expected at most "
                f"{LARGEST:g} in SI units: correct the table, or make it again from its records"
            )
    steps = pd.DataFrame({name: np.zeros(len(table)) for name in table.columns if name not in KEYS})
    names = sorted(set(table["implementation"]))
    return Dataset(
        name=path.stem,
        path=path,
        digest=digest,
        table=table,
        steps=steps,
        times=measured[["start_ns", "end_ns"]].set_axis(["start", "end"], axis=1) * 1e-9,
        meanings=tuple(
            Meaning(column, name, None, guessed=False) for column, name in found.items()
        ),
        implementations={name: name for name in names},
        notes=(Message("copycost_table"),),
        mapping=mapping,
        copycost_cells=cells,
    )
