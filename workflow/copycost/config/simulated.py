"""The section `simulated` of the configuration, and its grid."""

from dataclasses import dataclass, replace
from typing import Literal

from copycost.config.cells import Cell, cells_of
from copycost.config.variants import OTHER_KERNEL

STUDY = "simulated"

FIGURES = ("misses",)
"""Names of the figures, see `copycost.studies.simulated.figures`."""

TESTBEDS = ("loopback", "sink")
"""What can be built within one guest."""

_LEAST_MESSAGES = 8

Enabled = bool | Literal["auto"]
Prefetcher = Literal["none", "next_line"]


@dataclass(frozen=True, slots=True)
class Geometry:
    """One level of the cache: its size [bytes] and the lines of a set [count]."""

    size_bytes: int
    ways: int


@dataclass(frozen=True, slots=True)
class CacheSizes:
    """The levels of the cache, as stated."""

    l1d: Geometry
    l2: Geometry
    llc: Geometry


@dataclass(frozen=True, slots=True)
class Counting:
    """What of the section decides what one cell counts; see `Simulated`."""

    window_bytes: int
    caches: CacheSizes | None
    line_bytes: int
    prefetcher: Prefetcher

    def n_messages(self, msg_bytes: int) -> int:
        """Return how many messages a window holds [count]."""
        return max(_LEAST_MESSAGES, -(-self.window_bytes // msg_bytes))


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Which cells are counted again, each with one thing changed."""

    variants: tuple[str, ...]
    msg_bytes: tuple[int, ...]
    working_sets: tuple[str, ...]
    kernel: str | None


@dataclass(frozen=True, slots=True)
class Simulated:
    """The section of the configuration."""

    enabled: Enabled
    implementations: tuple[str, ...]
    testbeds: tuple[str, ...]
    msg_bytes: tuple[int, ...]
    working_sets: tuple[str, ...]
    window_bytes: int
    caches: CacheSizes | None
    line_bytes: int
    prefetcher: Prefetcher
    sensitivity: Sensitivity

    def cells(self) -> tuple[Cell, ...]:
        """Return every cell that can exist, those with nothing changed first."""
        again = replace(
            self, msg_bytes=self.sensitivity.msg_bytes, working_sets=self.sensitivity.working_sets
        )
        changed = (
            replace(cell, variant=variant)
            for variant in self.variants()
            for cell in cells_of(STUDY, again)
        )
        return (*cells_of(STUDY, self), *changed)

    def variants(self) -> tuple[str, ...]:
        """Return what is changed, one after the other, where it can be."""
        return tuple(
            name
            for name in self.sensitivity.variants
            if name != OTHER_KERNEL or self.sensitivity.kernel is not None
        )

    def counting(self) -> Counting:
        """Return what decides what one cell counts."""
        return Counting(self.window_bytes, self.caches, self.line_bytes, self.prefetcher)
