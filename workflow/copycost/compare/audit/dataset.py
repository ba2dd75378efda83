"""A foreign table as data: one row per repetition, SI units, and how precise its digits are."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from copycost.analysis.conditions import with_condition
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.compare.audit.mapping import FileMapping, Meaning
from copycost.compare.audit.quantities import BY_NAME, TOTALS, words_of
from copycost.config.testbeds import receives_on
from copycost.errors import DataError

KEYS = ("dataset", "implementation", "msg_bytes", "n_threads", "rep")
CELL = ("dataset", "implementation", "msg_bytes", "n_threads")
STATISTICS = StatisticsSettings()
"""As in config.yaml: 95 % intervals."""

LARGEST = 1e30
"""In SI units, beyond what anybody measures, and far from where floats overflow."""


@dataclass(frozen=True)
class Dataset:
    """Measurements that somebody else made.

    `digest`: the SHA-256 of the file. `table`: one row per repetition: the columns of `KEYS`, then
    one column per quantity that the file has, in SI units (bits per second, seconds, bytes,
    counts), NaN where it has no value; of `start` and `end`, if told, seconds since some moment.
    `steps`: for each quantity but these two the smallest step that the digits of a value tell; same
    rows. `meanings`: what became of each column of the file. `implementations`: the file's name of
    an implementation to the report's. `notes`: what had to be decided, dropped or assumed, in
    sentences. `copycost_cells`: the file itself, where it is a table of cells of copycost.
    """

    path: Path
    digest: str
    table: pd.DataFrame
    steps: pd.DataFrame
    meanings: tuple[Meaning, ...]
    implementations: dict[str, str]
    notes: tuple[str, ...]
    mapping: FileMapping
    copycost_cells: pd.DataFrame | None = None

    @property
    def name(self) -> str:
        """Return what reports call it."""
        return self.path.stem

    def has(self, quantity: str) -> bool:
        """Tell whether any cell has a value of a quantity."""
        return quantity in self.table and bool(self.table[quantity].notna().any())

    def is_counted(self, quantity: str) -> bool:
        """Tell whether a quantity was measured; what reads 0 throughout was not."""
        return self.has(quantity) and bool((self.table[quantity].fillna(0.0) != 0.0).any())

    @property
    def datasets(self) -> list[str]:
        """Return the names in the column `dataset`, in the file's order."""
        return [str(name) for name in self.table["dataset"].unique()]


def quantity(table: pd.DataFrame, name: str) -> pd.Series:
    """Return a quantity of each row: as told, else as it follows from others, else NaN.

    Counts per byte and per message follow from each other with the message's size, and from
    totals with the bytes and messages of the row; those follow from throughput and duration.
    """
    told, size = _column(table, name), table["msg_bytes"]
    if name == "bytes":
        told = told.fillna(_column(table, "throughput") * _column(table, "duration") / 8.0)
        return told.fillna(_column(table, "messages") * size)
    if name == "messages":
        return told.fillna(quantity(table, "bytes") / size)
    if name == "throughput":
        duration = _column(table, "duration")
        return told.fillna(quantity(table, "bytes") * 8.0 / duration.where(duration > 0.0))
    for part, of, other, factor in (
        ("_per_byte", "bytes", "_per_message", 1.0 / size),
        ("_per_message", "messages", "_per_byte", size),
    ):
        if name.endswith(part):
            base, parts = name.removesuffix(part), quantity(table, of)
            told = told.fillna(_column(table, f"{base}{other}") * factor)
            told = told.fillna(_column(table, base) / parts.where(parts > 0.0))
    return told


def _column(table: pd.DataFrame, name: str) -> pd.Series:
    """Return a column of a table, NaN throughout where it has none."""
    return table.get(name, pd.Series(np.nan, index=table.index))


def dataset_of_cells(cells: pd.DataFrame, path: Path, digest: str, mapping: FileMapping) -> Dataset:
    """Return a table of cells as a dataset; `path` is what sentences call it."""
    measured = cells[cells["status"] == "measured"].reset_index(drop=True)
    if measured.empty:
        raise DataError(f"{path}: no repetition was measured; there is nothing to audit")
    keys = measured[list(KEYS[1:])].copy()
    keys.insert(0, "dataset", with_condition(measured)["condition"].astype(str))
    # Where nobody does, the sender's counts are all there are.
    somebody_receives = measured["testbed"].map(receives_on)
    in_si, meanings = pd.DataFrame(index=measured.index), []
    for name, own in ((name, one.own) for name, one in BY_NAME.items() if one.own):
        columns = [f"sender_{own}", f"receiver_{own}"] if name in TOTALS else [own]
        first, *rest = (measured[column] for column in columns)
        told = sum((one.where(somebody_receives, 0.0) for one in rest), first)
        in_si[name] = told * (1e-9 if own.endswith("_ns") else 1.0)
        meanings.append(Meaning(", ".join(columns), name))
    stamps = measured[["start_ns", "end_ns"]].set_axis(["start", "end"], axis=1) * 1e-9
    most = in_si.abs().max()
    for name in most.index[most > LARGEST]:
        raise DataError(f"{path}: {most[name]:g} is no {words_of(name)} that anybody measures; "
                        "make the table again from its records")  # fmt: skip
    return Dataset(
        path=path,
        digest=digest,
        table=pd.concat([keys, in_si, stamps], axis=1),
        steps=0.0 * in_si.fillna(0.0),
        meanings=tuple(meanings),
        implementations={name: name for name in sorted(set(keys["implementation"]))},
        notes=("This is a table of cells of copycost; its conditions are judged one by one.",),
        mapping=mapping,
        copycost_cells=cells,
    )
