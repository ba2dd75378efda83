"""The tables of the study `profile`: what one row means, columns, units. One definition for all."""

from dataclasses import replace

from copycost.hosts.side import PARTIES
from copycost.records.column import Definition, fact, grouped, number
from copycost.records.columns import CELLS
from copycost.studies.profile.grid import CellKey

KEY = CellKey._fields
"""The columns that say which cell; every table begins with them."""

CPU = "% of a CPU"
"""The unit of CPU use, of which each thread can have one CPU at most."""

# shares are quotients of sums of weights, which come out above 1 by a rounding
_WHOLE = 1 + 1e-9

QUANTITIES = (
    number("inclusive_share", "1", "Share of the side's samples with it anywhere in the stack",
           highest=_WHOLE),
    number("own_share", "1", "Share of the side's samples in which the CPU was executing it",
           highest=_WHOLE),
    number("inclusive_cpu_percent", CPU, "Inclusive share times the side's CPU use"),
    number("own_cpu_percent", CPU, "Own share times the side's CPU use"),
    number("inclusive_ns_per_kib", "ns/KiB", "Inclusive CPU time per KiB received"),
    number("own_ns_per_kib", "ns/KiB", "Own CPU time per KiB received"),
)  # fmt: skip
"""What the tables of shares hold, median over the repetitions; the interval of each is in columns
``NAME_low`` and ``NAME_high``."""

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

_KNOWN = {
    **{column.name: column for column in CELLS.columns},
    "call_path": fact("call_path", "str", "", "Functions from the outermost on, joined by ;"),
    "depth": fact("depth", "int64", "count", "Functions on the path"),
    "function": fact("function", "str", "",
                     "Function; of the kernel with _[k], inlined with _[i] at its end"),
    "category": fact("category", "str", "", "What the function does"),
    "box": fact("box", "str", "", "Where on the path of a message it lies"),
}  # fmt: skip
_SHARES = [
    column
    for one in QUANTITIES
    for column in (
        replace(one, description=f"{one.description}; median of the repetitions"),
        replace(one, name=f"{one.name}_low",
                description=f"Lower end of the interval of {one.name}"),
        replace(one, name=f"{one.name}_high", description="Upper end of the same"),
    )
]  # fmt: skip

SHARES = {
    name: Definition(
        f"table {name}",
        (
            *(_KNOWN[column] for column in KEY),
            *grouped(
                "Shares and costs",
                fact("side", "str", "", "Whose samples", allowed=PARTIES),
                *(_KNOWN[column] for column in about),
                fact("n", "int64", "count", "Repetitions with samples of the side"),
                *_SHARES,
            ),
        ),
        key=(*KEY, "side", about[0]),
        sorted_by=(*KEY, "side"),
    )
    for name, about in SHARE_TABLES.items()
}
"""By table."""
