"""The section `simulated` of the configuration, and its grid."""

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from copycost.config import structure as kinds
from copycost.config.cells import Cell, cells_of
from copycost.config.simulation_variants import OTHER_KERNEL, PLAIN, VARIANTS
from copycost.config.studies import Implementation

STUDY = "simulated"

FIGURES = ("misses",)
"""Names of the figures, see `copycost.studies.simulated.figures`."""

TESTBEDS = ("loopback", "sink")
"""What can be built within one guest."""

_LEAST_MESSAGES = 8
_CHANGES = tuple(name for name in VARIANTS if name != PLAIN)

Prefetcher = Literal["none", "next_line"]


@dataclass(frozen=True, slots=True)
class Geometry:
    """One level of the cache: its size [bytes] and the lines of a set [count]."""

    size_bytes: Annotated[int, kinds.size(1024, 4 << 30)]
    ways: Annotated[int, kinds.number("ways", 1, 64)]


@dataclass(frozen=True, slots=True)
class CacheSizes:
    """The levels of the cache, as stated."""

    l1d: Geometry
    l2: Geometry
    llc: Geometry


_CACHES = kinds.either({kinds.HOST: None}, kinds.section(CacheSizes))
_Size = Annotated[int, kinds.size(64, 16 << 20)]
_HotOrCold = Literal["hot", "cold"]


@dataclass(frozen=True, slots=True)
class Counting:
    """What of the section decides what one cell counts."""

    window_bytes: Annotated[int, kinds.size(64 << 10, 1 << 30)]
    caches: Annotated[CacheSizes | None, _CACHES]
    line_bytes: Literal[16, 32, 64, 128, 256]
    prefetcher: Prefetcher

    def n_messages(self, msg_bytes: int) -> int:
        """Return how many messages a window holds [count]."""
        return max(_LEAST_MESSAGES, -(-self.window_bytes // msg_bytes))


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Which cells are counted again, each with one thing changed."""

    variants: Annotated[tuple[str, ...], kinds.list_of(kinds.choice(*_CHANGES), least=0)]
    msg_bytes: tuple[_Size, ...]
    working_sets: tuple[_HotOrCold, ...]
    kernel: Annotated[str | None, kinds.either({kinds.NONE: None}, kinds.KERNEL)]


@dataclass(frozen=True, slots=True)
class Simulated(Counting):
    """The section of the configuration."""

    enabled: Literal["auto", True, False]
    implementations: tuple[Implementation, ...]
    testbeds: Annotated[tuple[str, ...], kinds.testbeds(*TESTBEDS)]
    msg_bytes: tuple[_Size, ...]
    working_sets: tuple[_HotOrCold, ...]
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
