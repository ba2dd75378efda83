"""The tables of the study `profile`: what one row means, columns, units. One definition for all."""

from dataclasses import dataclass

from copycost.hosts.parties import PARTIES
from copycost.records.column import Column, Definition, fact
from copycost.records.columns import CELLS
from copycost.studies.profile.grid import CellKey

KEY = CellKey._fields
"""The columns that say which cell; every table begins with them."""

CPU = "% of a CPU"
"""The unit of CPU use, of which each thread can have one CPU at most."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A measured column; its interval is in columns ``NAME_low`` and ``NAME_high``."""

    name: str
    unit: str
    about: str


QUANTITIES = (
    Quantity("inclusive_share", "1", "share of the side's samples with it anywhere in the stack"),
    Quantity("own_share", "1", "share of the side's samples in which the CPU was executing it"),
    Quantity("inclusive_cpu_percent", CPU, "inclusive share times the side's CPU use"),
    Quantity("own_cpu_percent", CPU, "own share times the side's CPU use"),
    Quantity("inclusive_ns_per_kib", "ns/KiB", "inclusive CPU time per KiB received"),
    Quantity("own_ns_per_kib", "ns/KiB", "own CPU time per KiB received"),
)
"""What the tables of shares hold, median over the repetitions."""

SHARE_TABLES = {
    "profile_paths": ("call_path", "depth", "function"),
    "profile_functions": ("function", "category"),
    "profile_categories": ("category",),
    "profile_boxes": ("box",),
    "profile_chains": ("call_path",),
}
"""By table, the columns that say what of a side a row is about, after the key and `side`."""

LEAST_SHARE = 0.001
"""Paths and functions below this inclusive share in every repetition are left out of the tables."""

_BY_NAME = {column.name: column for column in CELLS.columns}
_GROUP = "Shares and costs"
# shares are quotients of sums of weights, which come out above 1 by a rounding
_WHOLE = 1 + 1e-9

_ABOUT = {
    "call_path": fact("call_path", "str", "", "Functions from the outermost on, joined by ;",
                      _GROUP),
    "depth": fact("depth", "int64", "count", "Functions on the path", _GROUP),
    "function": fact("function", "str", "",
                     "Function; of the kernel with _[k], inlined with _[i] at its end", _GROUP),
    "category": fact("category", "str", "", "What the function does", _GROUP),
    "box": fact("box", "str", "", "Where on the path of a message it lies", _GROUP),
}  # fmt: skip


_QUANTITY_COLUMNS = tuple(
    Column(f"{one.name}{end}", "float64", one.unit, words, _GROUP,
           highest=_WHOLE if one.unit == "1" else None)
    for one in QUANTITIES
    for end, words in (
        ("", f"{one.about[:1].upper()}{one.about[1:]}; median of the repetitions"),
        ("_low", f"Lower end of the interval of {one.name}"),
        ("_high", "Upper end of the same"),
    )
)  # fmt: skip
_SIDE = Column("side", "str", "", "Whose samples", _GROUP, nullable=False, always=True,
               allowed=PARTIES)  # fmt: skip
_N = fact("n", "int64", "count", "Repetitions with samples of the side", _GROUP)

SHARES = {
    name: Definition(
        f"table {name}",
        (
            *(_BY_NAME[column] for column in KEY),
            _SIDE,
            *(_ABOUT[column] for column in about),
            _N,
            *_QUANTITY_COLUMNS,
        ),
        key=(*KEY, "side", about[0]),
        sorted_by=(*KEY, "side"),
    )
    for name, about in SHARE_TABLES.items()
}
"""By table."""
