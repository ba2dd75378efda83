"""The quantities that a foreign table may hold: their names, units and directions."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["label", "count", "rate", "time", "size", "share", "instant"]

INSTANTS = ("start", "end")
"""When a repetition was measured: not compared, but checked for runs that overlap."""

TOTALS = (
    "cycles", "instructions", "l1d_misses", "llc_misses", "cache_misses", "context_switches",
    "cpu_time",
)  # fmt: skip
"""Totals over the run, of both sides together, unless a column says per byte or per message."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a column can mean, a row of ``quantities.csv``.

    `words`: as a sentence calls it. `kind`: which units it may have. `unit`: taken where neither
    the column nor its values name one. `aliases`: other names of it, lower case, letters and digits
    only. `more_is_better`: none where neither is. `own`: its column in our own tables of cells,
    whose times are in nanoseconds (``_ns``), or, of `TOTALS`, the end of the column of each side;
    empty for none.
    """

    name: str
    words: str
    kind: Kind
    unit: str
    aliases: tuple[str, ...]
    more_is_better: bool | None
    own: str


def _read_quantities() -> Iterator[Quantity]:
    with Path(__file__).with_name("quantities.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            aliases = tuple(row.pop("aliases").split())
            better = {"more": True, "less": False}.get(row.pop("better"))
            yield Quantity(**row, aliases=aliases, more_is_better=better)  # type: ignore[arg-type]


BY_NAME = {quantity.name: quantity for quantity in _read_quantities()}
_BY_ALIAS = {alias: quantity for quantity in BY_NAME.values() for alias in quantity.aliases}
_PER = {"perbyte": "_per_byte", "permessage": "_per_message", "permsg": "_per_message"}

FACTORS: dict[str, dict[str, float]] = {
    "rate": {
        "bit/s": 1, "bps": 1, "kbps": 1e3, "kbit/s": 1e3, "mbps": 1e6, "mbit/s": 1e6,
        "gbps": 1e9, "gbit/s": 1e9, "gbits": 1e9, "gbits/s": 1e9, "gb/s": 1e9, "mbits/s": 1e6,
        "tbps": 1e12, "tbit/s": 1e12, "bitspers": 1, "gbit": 1e9, "mbit": 1e6, "gbitps": 1e9,
        "b/s": 8, "byte/s": 8, "bytes/s": 8, "kib/s": 8 * 2**10, "mib/s": 8 * 2**20,
        "gib/s": 8 * 2**30, "mbyte/s": 8e6, "gbyte/s": 8e9, "gbytes/s": 8e9, "mbytes/s": 8e6,
        "mb/s": 8e6, "kb/s": 8e3, "mibps": 8 * 2**20, "gibps": 8 * 2**30,
    },
    "time": {
        "s": 1, "sec": 1, "secs": 1, "seconds": 1, "ms": 1e-3, "msec": 1e-3, "us": 1e-6,
        "µs": 1e-6, "μs": 1e-6, "usec": 1e-6, "microseconds": 1e-6, "ns": 1e-9, "nsec": 1e-9,
        "min": 60,
    },
    # Sizes of messages called kB are powers of two in practice; the notes of a reading say so.
    "size": {
        "b": 1, "byte": 1, "bytes": 1, "kb": 2**10, "k": 2**10, "kib": 2**10, "mb": 2**20,
        "m": 2**20, "mib": 2**20, "gb": 2**30, "g": 2**30, "gib": 2**30,
    },
    "count": {"": 1, "count": 1, "k": 1e3, "m": 1e6, "g": 1e9, "million": 1e6, "billion": 1e9,
              "thousand": 1e3, "misses": 1, "cycles": 1},
    "share": {"": 1, "1": 1, "%": 0.01, "percent": 0.01},
    "label": {},
    "instant": {"": 1, "s": 1, "sec": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "utc": 1},
}  # fmt: skip
"""Factor from a unit to SI (bits per second, seconds, bytes, plain counts)."""

# As sloppy as they are common: small b for bytes per second is read with case where it is told.
_CASED = {"GB/s": 8e9, "MB/s": 8e6, "KB/s": 8e3, "kB/s": 8e3, "Gb/s": 1e9, "Mb/s": 1e6, "Kb/s": 1e3,
          "GBps": 8e9, "MBps": 8e6}  # fmt: skip


def unit_factor(kind: Kind, unit: str) -> float | None:
    """Return the factor from a unit to SI, None where the unit is not one of this kind."""
    text = unit.strip().replace(" ", "")
    if kind == "rate" and text in _CASED:
        return _CASED[text]
    return FACTORS[kind].get(text.lower())


def bare(name: str) -> str:
    """Return a name with nothing but its small letters and digits."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def find_quantity(name: str) -> str | None:
    """Return the quantity that a column name (without its unit) means, or None.

    Counters may be per byte or per message: ``cycles_per_byte`` is a quantity of its own.
    """
    text = bare(name.replace("/", " per "))
    for prefix in ("both", "total", "avg", "average", "mean", "measured"):
        if text.startswith(prefix) and text not in _BY_ALIAS:
            text = text.removeprefix(prefix)
    if text in _BY_ALIAS:
        return _BY_ALIAS[text].name
    for ending, suffix in _PER.items():
        if text.endswith(ending):
            found = _BY_ALIAS.get(text.removesuffix(ending))
            if found is not None and found.name in TOTALS:
                return f"{found.name}{suffix}"
    return None


def base_of(name: str) -> Quantity:
    """Return the quantity behind a name, also behind one per byte or per message."""
    return BY_NAME[name.removesuffix("_per_byte").removesuffix("_per_message")]


def words_of(name: str) -> str:
    """Return a quantity as a sentence calls it: ``L1d misses per byte``."""
    base = base_of(name)
    return f"{base.words}{name.removeprefix(base.name).replace('_', ' ')}"
