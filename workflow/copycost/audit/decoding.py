"""From the bytes of a file to a table of texts: encoding, delimiter, header."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from copycost.audit.wording import Message
from copycost.errors import DataError

MOST_BYTES = 20_000_000
"""A table with one row per repetition, not the samples behind it; larger files are refused."""

_LONGEST_LINE = 100_000
_DELIMITERS = (",", ";", "\t", "|")
_N_SAMPLED = 200
_MAGIC = {
    b"PK\x03\x04": "a zip archive or spreadsheet",
    b"\x1f\x8b": "a gzip archive",
    b"%PDF": "a PDF",
    b"PAR1": "a Parquet file",
    b"\x89PNG": "a picture",
    b"\x7fELF": "a program",
    b"\xd0\xcf\x11\xe0": "an old office document",
}
_NUMBER = re.compile(r"[-+]?[\d.,]*\d[\d.,]*(e[-+]?\d+)?\s*[A-Za-zµμ%/]*", re.IGNORECASE)
_RULER = re.compile(r"[\s|:+=-]*")


@dataclass(frozen=True, slots=True)
class TextTable:
    """A file as texts.

    `header`: names of the columns, as the file has them. `units`: units from a line of their own
    below the header; empty texts where there is none. `cells`: stripped, a column per name, by the
    number of the line. `delimiter`: what parts the columns (of most lines).
    """

    header: list[str]
    units: list[str]
    cells: pd.DataFrame
    delimiter: str
    notes: list[Message]


def decode_file(path: Path) -> str:
    """Return the text of a file."""
    try:
        n_bytes = path.stat().st_size
        if n_bytes > MOST_BYTES:
            raise DataError(
                f"{path}: has {n_bytes / 1e6:.0f} MB; an audit reads tables of up to "
                f"{MOST_BYTES / 1e6:.0f} MB, with one row per cell and repetition: export those"
            )
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); give a CSV file") from error
    if not content.strip():
        raise DataError(f"{path}: is empty; expected a header and one row per measurement")
    for magic, what in _MAGIC.items():
        if content.startswith(magic):
            raise DataError(f"{path}: is {what}, not text; export the table as CSV")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    control = sum(content.count(bytes([byte])) for byte in (0, 1, 2, 3, 4, 5, 6, 7, 8))
    if control:
        raise DataError(
            f"{path}: is binary ({control} control bytes), not text; export the table as CSV"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def split_table(
    text: str, where: str, delimiter: str | None = None, header: Sequence[str] | None = None
) -> TextTable:
    """Return a text as a table, whatever parts its columns.

    `text`: content of the file. Empty lines, lines that begin with ``#``, and rulers as Markdown
    has them are left out. `delimiter`: what parts the columns, if it is known. `header`: names of
    the columns, if the file has none.
    """
    numbered = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#") and not _RULER.fullmatch(line)
    ]
    for number, line in numbered:
        if len(line) > _LONGEST_LINE:
            raise DataError(
                f"{where}, line {number}: has {len(line):,} characters; expected a row of a table, "
                f"of at most {_LONGEST_LINE:,}: export the table with one row per line"
            )
    if not numbered:
        raise DataError(f"{where}: holds no rows; expected a header and one row per measurement")
    chosen = delimiter or _find_delimiter([line for _, line in numbered[:_N_SAMPLED]])
    if header is None:
        names = _split(numbered[0][1], chosen)
        _check_header(names, where, numbered[0][0])
        numbered = numbered[1:]
    else:
        names = list(header)
    cells, notes = _cells(numbered, chosen, len(names), where)
    if cells.empty:
        raise DataError(f"{where}: has a header but no rows; expected one row per measurement")
    units = [""] * len(names)
    if len(cells) > 1:
        # a first row holds units if it has words without digits where the next has numbers
        first, second = cells.iloc[0], cells.iloc[1]
        said = first[second.map(is_number)]
        if len(said) and not any(re.search(r"\d", text) or not text for text in said):
            units, cells = first.tolist(), cells.iloc[1:]
    return TextTable(names, units, cells, chosen, notes)


def is_number(text: str) -> bool:
    """Tell whether a cell holds a number, with or without a unit behind it."""
    return bool(_NUMBER.fullmatch(text.strip()))


def _find_delimiter(lines: list[str]) -> str:
    """Return the delimiter that gives most lines the same number of fields, more than one."""
    best, most = "", (0, 0)
    for delimiter in (*_DELIMITERS, " "):
        counts = Counter(len(_split(line, delimiter)) for line in lines)
        n_fields, n_lines = max(counts.items(), key=lambda item: (item[1], item[0]))
        # The header has no decimal commas, so its count of fields is the surest.
        of_header = len(_split(lines[0], delimiter))
        if n_fields > 1 and of_header > 1:
            agreeing = n_lines if n_fields == of_header else counts.get(of_header, 0)
            if delimiter == " " and (best or agreeing < len(lines)):
                continue  # spaces also stand beside other delimiters
            if (agreeing, of_header) > most:
                best, most = delimiter, (agreeing, of_header)
    return best or ","


def _split(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return line.split()
    if delimiter == "|":
        line = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip() for cell in next(csv.reader(io.StringIO(line), delimiter=delimiter))]


def _check_header(names: list[str], where: str, line: int) -> None:
    if len(names) < 2:
        raise DataError(
            f"{where}, line {line}: one column only ({names[0][:60]!r}); expected columns parted "
            "by commas, semicolons, tabs or bars"
        )
    numbers = [name for name in names if is_number(name)]
    if len(numbers) * 2 >= len(names):
        raise DataError(
            f"{where}, line {line}: holds numbers ({', '.join(numbers[:3])}), not the names of "
            "columns; add a header line, or name the columns under `header:` in a mapping"
        )
    twice = [name for name, n in Counter(map(str.lower, names)).items() if n > 1 and name]
    if twice:
        raise DataError(
            f"{where}, line {line}: {len(twice)} column name occurs twice ({twice[0]!r}); "
            "expected each once: rename one"
        )


def _cells(
    numbered: list[tuple[int, str]], delimiter: str, n_columns: int, where: str
) -> tuple[pd.DataFrame, list[Message]]:
    rows: dict[int, list[str]] = {}
    others: Counter[str] = Counter()
    for number, line in numbered:
        cells = _split(line, delimiter)
        if len(cells) > n_columns and not any(cells[n_columns:]):
            cells = cells[:n_columns]  # delimiters at the end of the line
        if len(cells) != n_columns:
            ways = ((other, _split(line, other)) for other in _DELIMITERS if other != delimiter)
            other, fits = next((way for way in ways if len(way[1]) == n_columns), ("", None))
            if fits is None:
                advice = "correct the line, or leave empty cells where values are missing"
                if delimiter == "," and len(cells) > n_columns:
                    advice = (
                        "decimal commas in a table parted by commas cannot be told from the "
                        "columns: write decimal points, quote the numbers, or part the columns by "
                        "semicolons"
                    )
                raise DataError(
                    f"{where}, line {number}: {len(cells)} fields, expected {n_columns} as in the "
                    f"header; {advice}"
                )
            cells = fits
            others[other] += 1
        rows[number] = cells
    about = {"of_rows": len(rows), "delimiter": delimiter}
    notes = [Message("other_delimiter", {"n_rows": n, "other": other} | about)
             for other, n in others.items()]  # fmt: skip
    return pd.DataFrame(rows.values(), index=list(rows), columns=range(n_columns)), notes
