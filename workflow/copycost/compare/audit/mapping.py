"""Which column means what: sensible guesses, and a mapping file that decides where they fail."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from reprlib import repr as shown
from typing import Any

from copycost.compare.audit.quantities import BY_NAME, bare, base_of, find_quantity, unit_factor
from copycost.config.yaml_loader import read_yaml
from copycost.errors import ConfigError

IGNORE = "ignore"
_BRACKETS = re.compile(r"\s*[\[(<{]([^\])>}]*)[\])>}]\s*")

_IMPLEMENTATIONS = {
    "two_copy": "twocopy 2copy twocopies 2copies baseline send a1 copy2 memcpysend sendrecv normal "
                "naive",
    "one_copy": "onecopy 1copy sendmsg a2 iovec writev scattergather singlecopy copy1",
    "zero_copy": "zerocopy 0copy msgzerocopy a3 zc copy0 sendzc",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a column means; without a unit, the quantity's usual one is taken."""

    column: str
    quantity: str | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class FileMapping:
    """What a mapping file says; all of it may be left out.

    `columns`: column name to quantity and unit; the quantity is `IGNORE` for columns to leave out.
    `implementations`: name in the file to name in the report. `constants`: quantities that are the
    same for all rows and stand in no column. `decimal`: the sign before decimals. `source`: where
    the file is from.
    """

    columns: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    implementations: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    decimal: str | None = None
    source: Mapping[str, str] = field(default_factory=dict)
    host: Mapping[str, Any] = field(default_factory=dict)


def find_meanings(names: Sequence[str], mapping: FileMapping, where: str) -> list[Meaning]:
    """Return what each column means, one column per quantity: those of the mapping, else the first.

    A lone column `bytes` is the size of a message where no other column is.
    """
    absent = [column for column in mapping.columns if column not in names]
    if absent:
        raise ConfigError(
            f"{where}: the mapping names {listed(absent)}, but the columns are {listed(names)}; "
            "correct the mapping"
        )
    found = list(map(_guess, names))
    for at, guess in enumerate(found):
        if guess.column in mapping.columns:
            quantity, unit = mapping.columns[guess.column]
            unit = unit or (guess.unit if quantity == guess.quantity else None)
            found[at] = Meaning(guess.column, None if quantity == IGNORE else quantity, unit)
    quantities = [meaning.quantity for meaning in found]
    if "msg_bytes" not in quantities and "bytes" in quantities:
        at = quantities.index("bytes")
        found[at] = replace(found[at], quantity="msg_bytes")
    best: dict[str | None, Meaning] = {}
    for meaning in sorted(found, key=lambda one: one.column not in mapping.columns):
        best.setdefault(meaning.quantity, meaning)
    return [meaning if meaning is best[meaning.quantity] else Meaning(meaning.column)
            for meaning in found]  # fmt: skip


def listed(names: Sequence[str]) -> str:
    """Return names of columns for a message, however many and long they are."""
    return ", ".join([*map(shown, names[:30]), *(["..."] if len(names) > 30 else [])])


def _guess(name: str) -> Meaning:
    """Guess from the name, with a unit in brackets or behind it."""
    stem, given = name, ""
    bracketed = _BRACKETS.search(name)
    if bracketed:
        stem = f"{name[: bracketed.start()]} {name[bracketed.end() :]}".strip()
        given = bracketed[1]
    quantity = find_quantity(stem)
    if quantity is not None:
        fits = given and unit_factor(base_of(quantity).kind, given) is not None
        return Meaning(name, quantity, given if fits else None)
    parts = [part for part in re.split(r"[\s_\-.]+", stem) if part]
    for n_unit in (3, 2, 1):
        quantity = find_quantity("".join(parts[:-n_unit]))
        for unit in ("".join(parts[-n_unit:]), "/".join(parts[-n_unit:])):
            if quantity and unit_factor(base_of(quantity).kind, unit) is not None:
                return Meaning(name, quantity, unit)
    if len(parts) == 1 and unit_factor("rate", parts[0]) not in (None, 1, 8):
        return Meaning(name, "throughput", parts[0])
    return Meaning(name)


def implementation_name(name: str, mapping: FileMapping) -> str:
    """Return how the report calls an implementation: A1 and ``two-copy`` are ``two_copy``."""
    if name in mapping.implementations:
        return mapping.implementations[name]
    text = bare(name)
    for known, aliases in _IMPLEMENTATIONS.items():
        if text in aliases.split():
            return known
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "unnamed"


_SECTIONS = ("columns", "implementations", "constants", "source", "host")
_NAME = re.compile(r"[^\s`|](?:[^`|\n\r\t]*[^\s`|])?")
_HOST_NUMBERS = ("cpus", "l1d_bytes", "l2_bytes", "llc_bytes")
_MOST = 2**50


def read_mapping(path: Path | None) -> FileMapping:
    """Read a mapping file; without one, everything is guessed."""
    content = {} if path is None else read_yaml(path)
    keys = ("decimal", *_SECTIONS)
    if not isinstance(content, dict) or not content.keys() <= set(keys):
        raise ConfigError(f"{path}: must be a mapping with some of the keys {', '.join(keys)}")
    problems: list[str] = []
    if content.get("decimal") not in (None, ".", ","):
        problems.append(f"decimal: got {shown(content['decimal'])}, must be '.' or ','")
    said: dict[str, dict[str, Any]] = {section: {} for section in _SECTIONS}
    for section, entries in said.items():
        part = content.get(section) or {}
        if not isinstance(part, dict):
            problems.append(f"{section}: must be a mapping of names")
            continue
        for key, value in part.items():
            try:
                entries.update([_entry(section, key, value)])
            except ValueError as error:
                problems.append(f"{section}.{key}: {error}")
    if problems:
        raise ConfigError("\n".join(f"{path}: {problem}" for problem in problems))
    return FileMapping(**said, decimal=content.get("decimal"))


def _entry(section: str, key: str, value: Any) -> tuple[str, Any]:  # noqa: ANN401 - as YAML has it
    """Return an entry of a section as it is meant; ValueError says what is wrong with it."""
    got, is_nested = f"got {shown(value)}, must be", isinstance(value, dict)
    if value is None or isinstance(value, list) or (is_nested and section != "columns"):
        raise ValueError(f"{got} a word or a number")
    if section == "columns":
        name, unit = (value.get("is"), value.get("unit")) if is_nested else (value, None)
        quantity = IGNORE if name == IGNORE else find_quantity(str(name))
        if quantity is None:
            known = ", ".join(BY_NAME)
            raise ValueError(f"{shown(value)} is no quantity; use {IGNORE} or one of {known}")
        fits = quantity == IGNORE or unit_factor(base_of(quantity).kind, str(unit)) is not None
        if unit and not fits:
            raise ValueError(f"{shown(unit)} is no unit of {quantity}")
        return key, (quantity, None if unit is None else str(unit))
    if section == "constants":
        quantity = find_quantity(key)
        if quantity is None:
            raise ValueError("no quantity; see docs/audit.md")
        return quantity, str(value).strip()
    if section == "host":
        if key in _HOST_NUMBERS and not (type(value) is int and 1 <= value <= _MOST):
            raise ValueError(f"{got} a whole number from 1")
        return key, value
    if section == "implementations" and not _NAME.fullmatch(str(value)):
        raise ValueError(f"{got} a name for the report")
    return key, str(value)
