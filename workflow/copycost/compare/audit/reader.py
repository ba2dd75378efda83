"""Reads a text file of foreign measurements, whatever its columns are called."""

import csv
import hashlib
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from reprlib import repr as shown

import numpy as np
import pandas as pd

from copycost.compare.audit.dataset import CELL, KEYS, LARGEST, Dataset, dataset_of_cells
from copycost.compare.audit.mapping import (
    FileMapping,
    Meaning,
    find_meanings,
    implementation_name,
    listed,
)
from copycost.compare.audit.quantities import INSTANTS, Quantity, base_of, unit_factor, words_of
from copycost.errors import DataError
from copycost.records.table import read_table
from copycost.wording.words import plural

_MOST_BYTES = 20_000_000
"""A table with one row per repetition, not the samples behind it; larger files are refused."""

_MOST_ROWS = 50_000
_OF_CELLS = {"throughput_bits_per_s", "sender_cycles_status", "host_digest"}
"""Columns by which a table of cells of copycost is known."""

_LONGEST_LINE = 100_000
_N_SAMPLED = 200
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_RULER = re.compile(r"[\s|:+=-]*")

_GAPS = frozenset({
    "", "-", "--", "---", "n/a", "na", "nan", "none", "null", "?", "x", ".", "\N{EN DASH}",
    "\N{EM DASH}", "not supported", "<not supported>", "not counted", "<not counted>",
    "not measured", "missing", "n.a.", "unknown", "skipped", "failed",
})  # fmt: skip
_NUMBER = re.compile(
    r"(?P<sign>[-+]?)(?P<digits>\d[\d.,'_\s\u00a0\u202f]*|[.,]\d+)(e(?P<exponent>[-+]?\d{1,9}))?"
    r"\s*(?P<unit>[A-Za-zµμ%][A-Za-zµμ%/]*)?",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_DECIMAL_COMMA = re.compile(r"\d*(\.\d{3})*,(\d{1,2}|\d{4,})")
_SMALLEST = 1e-30
_MOST_DIGITS = 17
"""What a float can tell."""


def read_dataset(path: Path, mapping: FileMapping) -> Dataset:
    """Read a file of measurements, with a header and one row per cell or repetition.

    What the mapping does not say is guessed, and the notes tell how.
    """
    content = _content(path)
    digest = hashlib.sha256(content).hexdigest()
    text = _decoded(content)
    if set(text.partition("\n")[0].strip().split(",")) >= _OF_CELLS:
        try:
            return dataset_of_cells(read_table(path), path, digest, mapping)
        except OverflowError as error:
            raise DataError(f"{path}: holds a whole number of more than 19 digits; make it again "
                            "from its records") from error  # fmt: skip
    header, cells, delimiter = _split(text, str(path))
    meanings = find_meanings(header, mapping, str(path))
    notes: list[str] = []
    found = {meaning.quantity: cells[at] for at, meaning in enumerate(meanings) if meaning.quantity}
    texts = pd.DataFrame(found, index=cells.index)
    for quantity, value in mapping.constants.items():
        if quantity not in texts:
            texts[quantity] = value
    _check_columns(texts.columns, header, str(path))
    if "n_threads" not in texts:
        texts["n_threads"] = "1"
        notes.append("No column gives the number of threads: one thread is assumed throughout.")
    commas = mapping.decimal == ","
    if mapping.decimal is None:
        commas = _has_decimal_commas(texts, delimiter)
    if commas:
        notes.append("Commas are read as decimal commas.")
    table, steps = _numbers(texts, meanings, commas=commas, where=str(path), notes=notes)
    _set_keys(table, path, notes)
    names = _report_names(table["implementation"].unique(), mapping)
    table["implementation"] = table["implementation"].map(names)
    if renamed := [f"{old} for {new}" for old, new in names.items() if old != new]:
        notes.append(f"Implementations have different names in the file: {', '.join(renamed)}.")
    # Rows that only say the same again are dropped.
    again = table.drop(columns=[*INSTANTS], errors="ignore").duplicated()
    if again.any():
        notes.append(f"{plural(int(again.sum()), 'row')} left out, identical to another: a second "
                     "measurement would not give the same digits.")  # fmt: skip
    table, steps = (one[~again].reset_index(drop=True) for one in (table, steps))
    table["rep"] = _repetitions(table, notes)
    order = [name for name in table.columns if name not in KEYS]
    notes += [f"The column of {words_of(name)} is empty."
              for name in order if table[name].isna().all()]  # fmt: skip
    table, steps = table[[*KEYS, *order]], steps[[one for one in order if one not in INSTANTS]]
    return Dataset(path, digest, table, steps, tuple(meanings), names, tuple(notes), mapping)


def _content(path: Path) -> bytes:
    try:
        n_bytes = path.stat().st_size
        content = path.read_bytes() if n_bytes <= _MOST_BYTES else b""
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); give a CSV file") from error
    if n_bytes > _MOST_BYTES:
        raise DataError(
            f"{path}: has {n_bytes / 1e6:.0f} MB; an audit reads tables of up to "
            f"{_MOST_BYTES / 1e6:.0f} MB, with one row per cell and repetition: export those"
        )
    if not content.startswith(_UTF_16) and any(byte in content for byte in range(9)):
        raise DataError(f"{path}: is binary, not text; export the table as CSV")
    return content


def _decoded(content: bytes) -> str:
    if content.startswith(_UTF_16):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def _split(text: str, where: str) -> tuple[list[str], pd.DataFrame, str]:
    """Return the header of a text, its cells by the number of their line, and what parts them.

    Empty lines, lines that begin with ``#``, and rulers as Markdown has them are left out.
    """
    lines = {
        number: line
        for number, line in enumerate(text.splitlines(), 1)
        if not line.lstrip().startswith("#") and not _RULER.fullmatch(line)
    }
    for number, line in lines.items():
        if len(line) > _LONGEST_LINE:
            raise DataError(
                f"{where}, line {number}: has {len(line):,} characters; expected a row of a table, "
                f"of at most {_LONGEST_LINE:,}: export the table with one row per line"
            )
    if len(lines) < 2:
        raise DataError(f"{where}: is empty or has no rows below its header; expected a header "
                        "and one row per measurement")  # fmt: skip
    if len(lines) - 1 > _MOST_ROWS:
        raise DataError(
            f"{where}: has {len(lines) - 1:,} rows; an audit reads up to {_MOST_ROWS:,}, one per "
            "cell and repetition: summarise the samples first"
        )
    delimiter = _delimiter([*lines.values()][:_N_SAMPLED])
    rows = {number: _fields(line, delimiter) for number, line in lines.items()}
    first = next(iter(rows))
    header = rows.pop(first)
    _check_header(header, f"{where}, line {first}")
    for number, fields in rows.items():
        if len(fields) > len(header) and not any(fields[len(header) :]):
            del fields[len(header) :]  # delimiters at the end of the line
        if len(fields) != len(header):
            advice = "correct the line, or leave empty cells where values are missing"
            if delimiter == "," and len(fields) > len(header):
                advice = ("decimal commas in a table parted by commas cannot be told from the "
                          "columns: quote the numbers, or write decimal points")  # fmt: skip
            raise DataError(
                f"{where}, line {number}: {len(fields)} fields, expected {len(header)} as in the "
                f"header; {advice}"
            )
    cells = pd.DataFrame(rows.values(), index=list(rows), columns=range(len(header)))
    return header, cells, delimiter


def _delimiter(lines: Sequence[str]) -> str:
    """Return what parts most lines into as many fields as the header.

    The header has no decimal commas, so its count of fields is the surest. Spaces also stand beside
    other delimiters, so they part all lines or none.
    """

    def agreeing(delimiter: str) -> tuple[int, int]:
        first, *counts = (len(_fields(line, delimiter)) for line in lines)
        return (counts.count(first), first) if first > 1 else (0, 0)

    best = max((",", ";", "\t", "|"), key=agreeing)
    if agreeing(best) == (0, 0) and agreeing(" ")[0] == len(lines) - 1:
        return " "
    return best


def _fields(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return line.split()
    if delimiter == "|":
        line = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]


def _check_header(names: Sequence[str], where: str) -> None:
    if len(names) < 2:
        raise DataError(
            f"{where}: one column only ({names[0][:60]!r}); expected columns parted by commas, "
            "semicolons, tabs or bars"
        )
    numbers = [name for name in names if _NUMBER.fullmatch(name)]
    if len(numbers) * 2 >= len(names):
        raise DataError(
            f"{where}: holds numbers ({', '.join(map(shown, numbers[:3]))}), not the names of "
            "columns; add a header line"
        )
    twice = [name for name, n in Counter(map(str.lower, names)).items() if n > 1 and name]
    if twice:
        raise DataError(f"{where}: a column name occurs twice ({shown(twice[0])}); rename one")


def _check_columns(found: Collection[str], header: Sequence[str], where: str) -> None:
    """Refuse a table without keys, or without anything that was measured."""
    missing = [words_of(name) for name in ("implementation", "msg_bytes") if name not in found]
    if missing:
        raise DataError(
            f"{where}: no column tells the {' and '.join(missing)}; the columns are "
            f"{listed(header)}; name them under `columns:` in a mapping, or give "
            "what all rows share under `constants:`"
        )
    if set(found) <= {*KEYS, "duration", *INSTANTS}:
        raise DataError(
            f"{where}: no column holds anything that was measured (throughput, latency, cycles, "
            f"...); the columns are {listed(header)}; name them under `columns:` in a mapping"
        )


def _numbers(
    texts: pd.DataFrame, meanings: Sequence[Meaning], *, commas: bool, where: str, notes: list[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return labels and numbers by quantity, and the steps of the latter; note what was decided."""
    named = {meaning.quantity: meaning for meaning in meanings}
    table, steps = texts.copy(), pd.DataFrame(index=texts.index)
    for name in map(str, texts.columns):
        base, meaning = base_of(name), named.get(name, Meaning(f"constant {name}"))
        if base.kind == "label":
            continue
        column, unit = meaning.column, meaning.unit
        if base.kind == "instant":
            table[name] = [_instant(text, unit) for text in texts[name]]
            n_unread = int(table[name].isna().sum()) - sum(map(_is_gap, texts[name]))
            if n_unread:
                notes.append(f"{column}: {plural(n_unread, 'value')} left out, not readable as a "
                             "time.")  # fmt: skip
            continue
        if base.kind == "size" and (unit or "").lower() in ("kb", "mb", "k", "m"):
            notes.append(f"{column}: {unit} is read as a power of two.")
        if name in named and unit is None and base.kind in ("rate", "time"):
            notes.append(f"{column}: no unit is given, {base.unit} is assumed.")
        table[name], steps[name] = _parse_column(
            texts[name], base, unit or base.unit, commas=commas, where=f"{where}: column {column}"
        )
    if "throughput" not in table and {"bytes", "duration"} <= set(table.columns):
        duration = table["duration"].where(table["duration"] > 0.0)
        for one in (table, steps):
            one["throughput"] = one["bytes"] * 8.0 / duration
    return table, steps


def _is_gap(text: str) -> bool:
    """Tell whether a cell says that there is no value."""
    return text.lower() in _GAPS


def _has_decimal_commas(texts: pd.DataFrame, delimiter: str) -> bool:
    """Tell whether 1,234 is one and a bit in a file, rather than a thousand and more.

    It is if any comma can only be a decimal one. Where every comma could be either, it is where
    semicolons or tabs part the columns, as spreadsheets of countries with decimal commas write.
    """
    numeric = [name for name in texts if base_of(str(name)).kind not in ("label", "instant")]
    matches = (_NUMBER.fullmatch(text) for name in numeric for text in texts[name])
    numbers = [match["digits"] for match in matches if match]
    if any(map(_DECIMAL_COMMA.fullmatch, numbers)):
        return True
    has_points = any("." in digits or digits.count(",") > 1 for digits in numbers)
    return delimiter in ";\t" and not has_points and any("," in digits for digits in numbers)


def _parse_column(
    texts: pd.Series, quantity: Quantity, unit: str, *, commas: bool, where: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return a column's numbers, and the smallest step that the digits of each tell.

    Both are in SI units, NaN where the file has none. A unit behind a value counts more than the
    column's.
    """
    values, steps = np.full((2, len(texts)), math.nan)
    for at, (line, text) in enumerate(texts.items()):
        if _is_gap(text):
            continue
        match = _NUMBER.fullmatch(text)
        factor = unit_factor(quantity.kind, match["unit"] or unit) if match else None
        if match is None or factor is None:
            raise DataError(
                f"{where}, line {line}: {shown(text)} is no {quantity.words}; expected a "
                "number, or an empty cell where there is no value"
            )
        digits = _with_point(match["digits"], commas=commas)
        exponent = int(match["exponent"] or 0)
        value = float(f"{match['sign']}{digits}e{exponent}") * factor
        if re.search("[1-9]", digits) and not _SMALLEST <= abs(value) <= LARGEST:
            raise DataError(
                f"{where}, line {line}: {shown(text)} is no {quantity.words} that anybody "
                f"measures; expected 0, or from {_SMALLEST:g} to {LARGEST:g} in SI units: correct "
                "it, or leave the cell empty"
            )
        # the weight of the last digit that is written and that a float can tell
        power = exponent - len(digits.partition(".")[2])
        largest = math.floor(math.log10(abs(value))) if value else 0
        step = max(10.0 ** min(power, 30) * factor, 10.0 ** (largest + 1 - _MOST_DIGITS))
        values[at], steps[at] = value, step
    return values, steps


_SCALES = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3))
"""A count of seconds since 1970 has ten digits; longer ones count milliseconds and less."""


def _instant(text: str, unit: str | None) -> float:
    """Return a moment in seconds since some moment, NaN where a text tells none.

    It is a number, which without a unit tells that by its size, or a date with a time of day (ISO
    8601; UTC where no zone is told).
    """
    with suppress(ValueError, OverflowError):
        value = float(text)
        factor = unit_factor("instant", unit) if unit else None
        if factor is None:
            factor = next((scale for least, scale in _SCALES if abs(value) >= least), 1.0)
        return value * factor if abs(value) <= LARGEST else math.nan
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(text.replace("/", "-"))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return math.nan


def _with_point(digits: str, *, commas: bool) -> str:
    """Return a number without what parts its thousands, and with a point before its decimals.

    `commas`: whether 1,234 is one and a bit; without, 1.234 is.
    """
    digits = re.sub(r"['_\s\u00a0\u202f]", "", digits)
    sign = max(".,", key=digits.rfind)
    whole, parted, decimals = digits.rpartition(sign)
    is_either = _THOUSANDS.fullmatch(digits) is not None
    if not parted or sign in whole or (is_either and commas != (sign == ",")):
        return re.sub("[.,]", "", digits)
    return f"{re.sub('[.,]', '', whole)}.{decimals}"


def _set_keys(table: pd.DataFrame, path: Path, notes: list[str]) -> None:
    """Make the keys whole numbers, and names as in the report; refuse what cannot be one."""
    for line, name in table["implementation"].items():
        if _is_gap(name):
            raise DataError(f"{path}, line {line}: no implementation; expected its name")
    for key, most in (("msg_bytes", 2**40), ("n_threads", 100_000)):
        values = table[key]
        wrong = values[~(values.between(1, most) & (values == np.floor(values)))]
        for line, value in wrong.items():
            found = "nothing" if np.isnan(value) else f"{value:g}"
            raise DataError(
                f"{path}, line {line}: {words_of(key)} is {found}; expected a whole number "
                "of at least 1"
            )
        table[key] = values.astype(np.int64)
    # The names of datasets become names of folders, each still its own.
    safe: dict[str, str] = {}
    datasets = table.get("dataset", pd.Series(path.stem, table.index)).astype(str)
    for name in datasets.unique():
        text = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.") or "unnamed"
        while text.lower() in map(str.lower, safe.values()):
            text += "-2"
        safe[name] = text
    table["dataset"] = datasets.map(safe)
    if len(safe) > 1:
        notes.append(f"The file holds {len(safe)} datasets, which are judged one by one.")


def _report_names(files: Iterable[str], mapping: FileMapping) -> dict[str, str]:
    """Return the name in the report of each implementation of a file, each still its own."""
    names = {name: implementation_name(name, mapping) for name in files}
    counts = Counter(names.values())
    return {old: new if counts[new] == 1 else old for old, new in names.items()}


def _repetitions(table: pd.DataFrame, notes: list[str]) -> pd.Series:
    """Return a number for each row of a cell."""
    numbers = table.groupby(list(CELL), sort=False).cumcount() + 1.0
    if "rep" not in table:
        if numbers.max() > 1:
            notes.append("Cells that occur more than once are taken as repetitions, in file order.")
    elif table["rep"].notna().all() and not table.duplicated([*CELL, "rep"]).any():
        numbers = table["rep"].rank(method="dense")
    else:
        notes.append("Some cells have the same repetition twice; they are renumbered.")
    return numbers.astype(np.int64)
