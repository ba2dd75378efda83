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
    DATASET,
    IMPLEMENTATION,
    INSTANTS,
    REP,
    SIZE,
    THREADS,
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
    if len(raw.rows) > MOST_ROWS:
        raise DataError(
            f"{path}: has {len(raw.rows):,} rows; an audit reads up to {MOST_ROWS:,}, one per cell "
            "and repetition: summarise the samples first"
        )
    meanings = find_meanings(raw.header, raw.units, mapping, str(path))
    notes = list(raw.notes)
    table, steps = _tables(raw, meanings, mapping, str(path), notes)
    for line, name in zip(raw.lines, table[IMPLEMENTATION], strict=True):
        if is_gap(name):
            raise DataError(f"{path}, line {line}: no implementation; expected its name")
    names = {name: implementation_name(name, mapping) for name in table[IMPLEMENTATION].unique()}
    counts = Counter(names.values())
    names = {old: new if counts[new] == 1 else old for old, new in names.items()}
    table[IMPLEMENTATION] = table[IMPLEMENTATION].map(names)
    _set_keys(table, path, notes, raw.lines)
    times = _times(raw, meanings, notes)
    table, steps, times = _number_repetitions(table, steps, times, notes)
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


def _tables(
    raw: TextTable,
    meanings: list[Meaning],
    mapping: FileMapping,
    where: str,
    notes: list[Message],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return texts or numbers by quantity, and the steps of the latter; note what was decided."""
    named = {meaning.quantity: meaning for meaning in meanings}
    texts = {
        meaning.quantity: [row[index] for row in raw.rows]
        for index, meaning in enumerate(meanings)
        if meaning.quantity is not None and meaning.quantity not in INSTANTS
    }
    for quantity, value in mapping.constants.items():
        texts.setdefault(quantity, [value] * len(raw.rows))
    _require(texts, raw, where)
    if THREADS not in texts:
        texts[THREADS] = ["1"] * len(raw.rows)
        notes.append(Message("one_thread_assumed"))
    numeric = {name: cells for name, cells in texts.items() if base_of(name).kind != "label"}
    if mapping.decimal:
        commas = frozenset(numeric if mapping.decimal == "," else ())
    else:
        commas = decimal_commas(numeric, raw.delimiter)
    if commas:
        about = {"quantities": [name for name in numeric if name in commas]}
        notes.append(Message("decimal_commas", about))
    table, steps = (pd.DataFrame(index=range(len(raw.rows))) for _ in range(2))
    for name, cells in texts.items():
        if name not in numeric:
            table[name] = cells
            continue
        meaning, base = named.get(name), base_of(name)
        column = meaning.column if meaning else f"constant {name}"
        unit = meaning.unit if meaning else None
        if base.kind == "size" and (unit or "").lower() in ("kb", "mb", "k", "m"):
            notes.append(Message("power_of_two", {"column": column, "unit": unit}))
        table[name], fine = parse_column(
            cells, base, unit, commas=name in commas, where=f"{where}: column {column}",
            lines=raw.lines,
        )  # fmt: skip
        if name not in KEYS:
            steps[name] = fine
        if meaning and unit is None and base.kind in ("rate", "time"):
            notes.append(Message("unit_assumed", {"column": column, "unit": base.unit}))
    if "throughput" not in table and {"bytes", "duration"} <= set(table.columns):
        duration = table["duration"].where(table["duration"] > 0.0)
        for one in (table, steps):
            one["throughput"] = one["bytes"] * 8.0 / duration
    return table, steps


def _times(raw: TextTable, meanings: list[Meaning], notes: list[Message]) -> pd.DataFrame:
    """Return when each row was measured, NaN where no column tells."""
    times = pd.DataFrame(np.nan, index=range(len(raw.rows)), columns=list(INSTANTS))
    for index, meaning in enumerate(meanings):
        if meaning.quantity not in INSTANTS:
            continue
        texts = [row[index] for row in raw.rows]
        times[meaning.quantity] = parse_instants(texts, meaning.unit)
        n_unread = int(times[meaning.quantity].isna().sum()) - sum(map(is_gap, texts))
        if n_unread:
            notes.append(Message("times_unread", {"column": meaning.column, "n_rows": n_unread}))
    return times


def _require(texts: dict[str, list[str]], raw: TextTable, where: str) -> None:
    missing = [name for name in (IMPLEMENTATION, SIZE) if name not in texts]
    if missing:
        said = " and ".join(words_of(name) for name in missing)
        raise DataError(
            f"{where}: no column tells the {said}; the columns are "
            f"{listed(raw.header)}; name them under `columns:` in a mapping, or give "
            "what all rows share under `constants:`"
        )
    if not any(name for name in texts if name not in (*KEYS, "duration")):
        raise DataError(
            f"{where}: no column holds anything that was measured (throughput, latency, cycles, "
            f"...); the columns are {listed(raw.header)}; name them under `columns:` "
            "in a mapping"
        )


def _set_keys(table: pd.DataFrame, path: Path, notes: list[Message], lines: list[int]) -> None:
    """Make the keys whole numbers and names, and refuse what cannot be one."""
    for name, most in ((SIZE, 2**40), (THREADS, 100_000)):
        values = table[name].to_numpy(dtype=np.float64)
        wrong = ~((values >= 1) & (values <= most) & (values == np.floor(values)))
        if wrong.any():
            at = int(np.argmax(wrong))
            found = "nothing" if np.isnan(values[at]) else f"{values[at]:g}"
            raise DataError(
                f"{path}, line {lines[at]}: {words_of(name)} is {found}; expected a whole number "
                "of at least 1"
            )
        table[name] = values.astype(np.int64)
    if DATASET not in table:
        table[DATASET] = path.stem
    table[DATASET] = _safe_names(table[DATASET].astype(str))
    if table[DATASET].nunique() > 1:
        notes.append(Message("several_datasets", {"n_datasets": table[DATASET].nunique()}))


def _safe_names(names: pd.Series) -> pd.Series:
    """Return the names of datasets as names of folders, each still its own."""
    safe: dict[str, str] = {}
    for name in names.unique():
        text = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.") or "unnamed"
        while text.lower() in (other.lower() for other in safe.values()):
            text += "-2"
        safe[name] = text
    return names.map(safe)


def _number_repetitions(
    table: pd.DataFrame, steps: pd.DataFrame, times: pd.DataFrame, notes: list[Message]
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Give each row of a cell a number, and drop rows that only say the same again."""
    again = table.duplicated()
    if again.any():
        notes.append(Message("rows_repeated", {"n_rows": int(again.sum())}))
    table, steps, times = (one[~again].reset_index(drop=True) for one in (table, steps, times))
    numbers = table.groupby(list(CELL), sort=False).cumcount() + 1.0
    if REP not in table:
        if numbers.max() > 1:
            notes.append(Message("repetitions_by_order"))
    elif table[REP].notna().all() and not table.duplicated([*CELL, REP]).any():
        numbers = table[REP].rank(method="dense")
    else:
        notes.append(Message("repetitions_renumbered"))
    return table.assign(**{REP: numbers.astype(np.int64)}), steps, times
