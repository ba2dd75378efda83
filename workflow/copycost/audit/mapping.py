"""Which column means what: sensible guesses, and a mapping that decides where they fail."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from reprlib import repr as shown
from typing import Any

from copycost.audit.quantities import (
    BYTES,
    SIZE,
    base_of,
    find_quantity,
    unit_factor,
)
from copycost.errors import ConfigError

IGNORE = "ignore"
_BRACKETS = re.compile(r"\s*[\[(<{]([^\])>}]*)[\])>}]\s*")

_IMPLEMENTATIONS = {
    "two_copy": ("twocopy", "2copy", "twocopies", "2copies", "baseline", "send", "a1", "copy2",
                 "memcpysend", "sendrecv", "normal", "naive"),
    "one_copy": ("onecopy", "1copy", "sendmsg", "a2", "iovec", "writev", "scattergather",
                 "singlecopy", "copy1"),
    "zero_copy": ("zerocopy", "0copy", "msgzerocopy", "a3", "zc", "copy0", "sendzc"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a column means.

    Attributes
    ----------
    column
        Its name in the file.
    quantity
        The quantity; None where the column is left out.
    unit
        The unit found or given, None where the quantity's usual one is taken.
    guessed
        False where a mapping says so.
    """

    column: str
    quantity: str | None
    unit: str | None
    guessed: bool


@dataclass(frozen=True, slots=True)
class FileMapping:
    """What a mapping file says; all of it may be left out.

    Attributes
    ----------
    columns
        Column name to quantity and unit; the quantity is `IGNORE` for columns to leave out.
    implementations
        Name in the file to name in the report.
    constants
        Quantities that are the same for all rows and stand in no column.
    delimiter, decimal, header
        How to read the file.
    source, host
        Sentences on where the file is from, and what is known of its host.
    """

    columns: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    implementations: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    delimiter: str | None = None
    decimal: str | None = None
    header: tuple[str, ...] | None = None
    source: Mapping[str, str] = field(default_factory=dict)
    host: Mapping[str, Any] = field(default_factory=dict)


def find_meanings(
    names: Sequence[str], units: Sequence[str], mapping: FileMapping, where: str
) -> list[Meaning]:
    """Return what each column means.

    Raises
    ------
    ConfigError
        If the mapping names columns that there are not.
    """
    absent = [column for column in mapping.columns if column not in names]
    if absent:
        raise ConfigError(
            f"{where}: the mapping names {listed(absent)}, but the columns are {listed(names)}; "
            "correct the mapping"
        )
    found: list[Meaning] = []
    for name, unit in zip(names, units, strict=True):
        if name in mapping.columns:
            quantity, said = mapping.columns[name]
            guess = _guess(name, unit)
            found.append(
                Meaning(
                    name,
                    None if quantity == IGNORE else quantity,
                    said or (guess.unit if quantity == guess.quantity else None),
                    guessed=False,
                )
            )
        else:
            found.append(_guess(name, unit))
    return _without_rivals(found)


def listed(names: Sequence[str]) -> str:
    """Return names of columns for a message, however many and long they are."""
    return ", ".join([*map(shown, names[:30]), *(["..."] if len(names) > 30 else [])])


def _guess(name: str, unit: str) -> Meaning:
    """Guess from the name, with a unit in brackets, behind it, or from the line below."""
    stem, given = name, unit
    bracketed = _BRACKETS.search(name)
    if bracketed:
        stem = f"{name[: bracketed.start()]} {name[bracketed.end() :]}".strip()
        given = bracketed[1]
    quantity = find_quantity(stem)
    if quantity is not None:
        kind = base_of(quantity).kind
        fits = bool(given) and unit_factor(kind, given) is not None
        return Meaning(name, quantity, given if fits else None, guessed=True)
    parts = [part for part in re.split(r"[\s_\-.]+", stem) if part]
    for n_unit in (3, 2, 1):
        if len(parts) > n_unit:
            quantity = find_quantity("".join(parts[:-n_unit]))
            tail = "".join(parts[-n_unit:])
            slash = "/".join(parts[-n_unit:])
            for text in (tail, slash):
                if quantity and unit_factor(base_of(quantity).kind, text) is not None:
                    return Meaning(name, quantity, text, guessed=True)
    if len(parts) == 1 and unit_factor("rate", parts[0]) not in (None, 1, 8):
        return Meaning(name, "throughput", parts[0], guessed=True)
    return Meaning(name, None, None, guessed=True)


def _without_rivals(found: list[Meaning]) -> list[Meaning]:
    """Keep one column per quantity: those that a mapping names, else the first.

    A lone column `bytes` is the size of a message where no other column is.
    """
    quantities = [meaning.quantity for meaning in found]
    if SIZE not in quantities and BYTES in quantities:
        at = quantities.index(BYTES)
        found[at] = Meaning(found[at].column, SIZE, found[at].unit, found[at].guessed)
    kept: list[Meaning] = []
    for meaning in found:
        rivals = [other for other in found if other.quantity == meaning.quantity]
        best = next((other for other in rivals if not other.guessed), rivals[0])
        wins = meaning is best or meaning.quantity is None
        kept.append(
            meaning if wins else Meaning(meaning.column, None, meaning.unit, meaning.guessed)
        )
    return kept


def implementation_name(name: str, mapping: FileMapping) -> str:
    """Return how the report calls an implementation: A1 and ``two-copy`` are ``two_copy``."""
    if name in mapping.implementations:
        return mapping.implementations[name]
    text = re.sub(r"[^a-z0-9]", "", name.lower())
    for known, aliases in _IMPLEMENTATIONS.items():
        if text in aliases:
            return known
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "unnamed"
