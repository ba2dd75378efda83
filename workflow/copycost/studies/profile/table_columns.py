"""The tables of the study `profile`: what one row means, columns, units. One definition for all."""

from dataclasses import dataclass

from copycost.studies.profile.grid import CellKey

KEY = CellKey._fields
"""The columns that say which cell; every table begins with them."""

_CPU = "% of a CPU"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A measured column; its interval is in columns ``NAME_low`` and ``NAME_high``."""

    name: str
    unit: str
    about: str

    @property
    def is_share(self) -> bool:
        """Whether it lies between 0 and 1."""
        return self.unit == "1"

    @property
    def is_cpu(self) -> bool:
        """Whether it is CPU use, of which each thread can have one CPU at most."""
        return self.unit == _CPU


QUANTITIES = (
    Quantity("inclusive_share", "1", "samples with it anywhere in the stack, of the side's"),
    Quantity("own_share", "1", "samples in which it is what the CPU was doing, of the side's"),
    Quantity("inclusive_cpu_percent", _CPU, "inclusive share times the side's CPU use"),
    Quantity("own_cpu_percent", _CPU, "own share times the side's CPU use"),
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
