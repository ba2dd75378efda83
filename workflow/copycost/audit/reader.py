"""Reads a CSV file of foreign measurements, whatever its columns are called."""

import hashlib
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from copycost.audit.dataset import CELL, KEYS, Dataset, is_cells_table, read_cells_table
from copycost.audit.decoding import TextTable, decode_file, split_table
from copycost.audit.mapping import FileMapping, Meaning, find_meanings, implementation_name, listed
from copycost.audit.number_parsing import decimal_commas, is_gap, parse_column, parse_instants
from copycost.audit.quantities import (
    BYTES,
    DATASET,
    DURATION,
    IMPLEMENTATION,
    INSTANTS,
    REP,
    SIZE,
    THREADS,
    THROUGHPUT,
    base_of,
    words_of,
)
from copycost.audit.wording import Message
from copycost.errors import DataError

MOST_ROWS = 50_000


def read_dataset(path: Path, mapping: FileMapping) -> Dataset:
    """Read a file of measurements.

    `path`: a text file with a header and one row per cell or repetition. `mapping`: what a mapping
    file says; what it does not say is guessed, and the notes tell how.
    """
    text = decode_file(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if is_cells_table(text):
        return read_cells_table(path, digest, mapping)
    raw = split_table(text, str(path), mapping.delimiter, mapping.header)
    if len(raw.cells) > MOST_ROWS:
        raise DataError(
            f"{path}: has {len(raw.cells):,} rows; an audit reads up to {MOST_ROWS:,}, one per "
            "cell and repetition: summarise the samples first"
        )
    meanings = find_meanings(raw.header, raw.units, mapping, str(path))
    notes = list(raw.notes)
    texts = _texts(raw, meanings, mapping, str(path), notes)
    table, steps = _numbers(texts, meanings, mapping, raw.delimiter, str(path), notes)
    for line, name in table[IMPLEMENTATION].items():
        if is_gap(name):
            raise DataError(f"{path}, line {line}: no implementation; expected its name")
    names = {name: implementation_name(name, mapping) for name in table[IMPLEMENTATION].unique()}
    counts = Counter(names.values())
    names = {old: new if counts[new] == 1 else old for old, new in names.items()}
    table[IMPLEMENTATION] = table[IMPLEMENTATION].map(names)
    _set_keys(table, path, notes)
    times = _times(raw, meanings, notes)
    # Rows that only say the same again are dropped.
    again = table.duplicated()
    if again.any():
        notes.append(Message("rows_repeated", {"n_rows": int(again.sum())}))
    table, steps, times = (one[~again].reset_index(drop=True) for one in (table, steps, times))
    table[REP] = _repetitions(table, notes)
    order = [name for name in table.columns if name not in KEYS]
    empty = [name for name in order if not table[name].notna().any()]
    notes += [Message("column_empty", {"quantities": [name]}) for name in empty]
    renamed = [f"{old} for {new}" for old, new in names.items() if old != new]
    if renamed:
        notes.append(Message("implementations_renamed", {"names": renamed}))
    return Dataset(
        name=path.stem,
        path=path,
        digest=digest,
        table=table[[*KEYS, *order]],
        steps=steps[order],
        times=times,
        meanings=tuple(meanings),
        implementations=names,
        notes=tuple(notes),
        mapping=mapping,
    )


def _texts(
    raw: TextTable, meanings: list[Meaning], mapping: FileMapping, where: str, notes: list[Message]
) -> dict[str, pd.Series]:
    """Return the texts of each quantity, from its column, or the same for all; all that it takes.

    Without keys or anything that was measured, there is nothing to audit.
    """
    found = {
        meaning.quantity: raw.cells[index]
        for index, meaning in enumerate(meanings)
        if meaning.quantity is not None and meaning.quantity not in INSTANTS
    }
    for quantity, value in mapping.constants.items():
        found.setdefault(quantity, pd.Series(value, raw.cells.index))
    missing = [words_of(name) for name in (IMPLEMENTATION, SIZE) if name not in found]
    if missing:
        raise DataError(
            f"{where}: no column tells the {' and '.join(missing)}; the columns are "
            f"{listed(raw.header)}; name them under `columns:` in a mapping, or give "
            "what all rows share under `constants:`"
        )
    if found.keys() <= {*KEYS, DURATION}:
        raise DataError(
            f"{where}: no column holds anything that was measured (throughput, latency, cycles, "
            f"...); the columns are {listed(raw.header)}; name them under `columns:` "
            "in a mapping"
        )
    if THREADS not in found:
        found[THREADS] = pd.Series("1", raw.cells.index)
        notes.append(Message("one_thread_assumed"))
    return found


def _numbers(
    texts: dict[str, pd.Series],
    meanings: list[Meaning],
    mapping: FileMapping,
    delimiter: str,
    where: str,
    notes: list[Message],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return labels and numbers by quantity, and the steps of the latter; note what was decided."""
    named = {meaning.quantity: meaning for meaning in meanings}
    numeric = {name: cells for name, cells in texts.items() if base_of(name).kind != "label"}
    if mapping.decimal:
        commas = frozenset(numeric if mapping.decimal == "," else ())
    else:
        commas = decimal_commas(numeric, delimiter)
    if commas:
        about = {"quantities": [name for name in numeric if name in commas]}
        notes.append(Message("decimal_commas", about))
    table = pd.DataFrame(texts)
    steps = pd.DataFrame(index=table.index)
    for name, cells in numeric.items():
        meaning, base = named.get(name), base_of(name)
        column = meaning.column if meaning else f"constant {name}"
        unit = meaning.unit if meaning else None
        if base.kind == "size" and (unit or "").lower() in ("kb", "mb", "k", "m"):
            notes.append(Message("power_of_two", {"column": column, "unit": unit}))
        table[name], steps[name] = parse_column(
            cells, base, unit, commas=name in commas, where=f"{where}: column {column}"
        )
        if meaning and unit is None and base.kind in ("rate", "time"):
            notes.append(Message("unit_assumed", {"column": column, "unit": base.unit}))
    if THROUGHPUT not in table and {BYTES, DURATION} <= set(table.columns):
        duration = table[DURATION].where(table[DURATION] > 0.0)
        for one in (table, steps):
            one[THROUGHPUT] = one[BYTES] * 8.0 / duration
    return table, steps


def _times(raw: TextTable, meanings: list[Meaning], notes: list[Message]) -> pd.DataFrame:
    """Return when each row was measured, NaN where no column tells."""
    times = pd.DataFrame(np.nan, index=raw.cells.index, columns=list(INSTANTS))
    for index, meaning in enumerate(meanings):
        if meaning.quantity not in INSTANTS:
            continue
        texts = raw.cells[index]
        times[meaning.quantity] = parse_instants(texts, meaning.unit)
        n_unread = int(times[meaning.quantity].isna().sum()) - sum(map(is_gap, texts))
        if n_unread:
            notes.append(Message("times_unread", {"column": meaning.column, "n_rows": n_unread}))
    return times


def _set_keys(table: pd.DataFrame, path: Path, notes: list[Message]) -> None:
    """Make the keys whole numbers and names, and refuse what cannot be one."""
    for name, most in ((SIZE, 2**40), (THREADS, 100_000)):
        values = table[name]
        wrong = values[~(values.between(1, most) & (values == np.floor(values)))]
        for line, value in wrong.items():
            found = "nothing" if np.isnan(value) else f"{value:g}"
            raise DataError(
                f"{path}, line {line}: {words_of(name)} is {found}; expected a whole number "
                "of at least 1"
            )
        table[name] = values.astype(np.int64)
    # The names of datasets become names of folders, each still its own.
    safe: dict[str, str] = {}
    datasets = table.get(DATASET, pd.Series(path.stem, table.index)).astype(str)
    for name in datasets.unique():
        text = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.") or "unnamed"
        while text.lower() in (other.lower() for other in safe.values()):
            text += "-2"
        safe[name] = text
    table[DATASET] = datasets.map(safe)
    if len(safe) > 1:
        notes.append(Message("several_datasets", {"n_datasets": len(safe)}))


def _repetitions(table: pd.DataFrame, notes: list[Message]) -> pd.Series:
    """Return a number for each row of a cell."""
    numbers = table.groupby(list(CELL), sort=False).cumcount() + 1.0
    if REP not in table:
        if numbers.max() > 1:
            notes.append(Message("repetitions_by_order"))
    elif table[REP].notna().all() and not table.duplicated([*CELL, REP]).any():
        numbers = table[REP].rank(method="dense")
    else:
        notes.append(Message("repetitions_renumbered"))
    return numbers.astype(np.int64)
