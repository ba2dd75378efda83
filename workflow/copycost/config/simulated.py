"""The section `simulated` of the configuration, and its grid."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from copycost.config.cells import Cell, cells_of
from copycost.config.simulation_variants import OTHER_KERNEL, PLAIN, VARIANTS
from copycost.config.structure import (
    HOST,
    NONE,
    SOME_IMPLEMENTATIONS,
    Choice,
    ListOf,
    Number,
    Or,
    Section,
    Size,
    Word,
    section,
    stated,
    testbeds,
)

STUDY = "simulated"

FIGURES = ("misses",)
"""Names of the figures, see `copycost.studies.simulated.figures`."""

TESTBEDS = ("loopback", "sink")
"""What can be built within one guest."""

_LEAST_MESSAGES = 8
_CHANGES = tuple(name for name in VARIANTS if name != PLAIN)

Enabled = bool | Literal["auto"]
Prefetcher = Literal["none", "next_line"]


@dataclass(frozen=True, slots=True)
class Geometry:
    """One level of the cache: its size [bytes] and the lines of a set [count]."""

    size_bytes: int = stated(Size(least=1024, most=4 << 30))
    ways: int = stated(Number("ways", 1, 64))


@dataclass(frozen=True, slots=True)
class CacheSizes:
    """The levels of the cache, as stated."""

    l1d: Geometry = section(Geometry)
    l2: Geometry = section(Geometry)
    llc: Geometry = section(Geometry)


_SIZES = ListOf(Size(least=64, most=16 << 20))
_HOT_OR_COLD = ListOf(Choice("hot", "cold"))


@dataclass(frozen=True, slots=True)
class Counting:
    """What of the section decides what one cell counts."""

    window_bytes: int = stated(Size(least=64 << 10, most=1 << 30))
    caches: CacheSizes | None = stated(Or({HOST: None}, Section(CacheSizes)))
    line_bytes: int = stated(Choice(16, 32, 64, 128, 256))
    prefetcher: Prefetcher = stated(Choice(*get_args(Prefetcher)))

    def n_messages(self, msg_bytes: int) -> int:
        """Return how many messages a window holds [count]."""
        return max(_LEAST_MESSAGES, -(-self.window_bytes // msg_bytes))


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Which cells are counted again, each with one thing changed."""

    variants: tuple[str, ...] = stated(ListOf(Choice(*_CHANGES), least=0))
    msg_bytes: tuple[int, ...] = stated(_SIZES)
    working_sets: tuple[str, ...] = stated(_HOT_OR_COLD)
    kernel: str | None = stated(Or({NONE: None}, Word("auto, or the path of a kernel", most=4096)))


@dataclass(frozen=True, slots=True)
class Simulated(Counting):
    """The section of the configuration."""

    enabled: Enabled = stated(Choice("auto", True, False))
    implementations: tuple[str, ...] = stated(SOME_IMPLEMENTATIONS)
    testbeds: tuple[str, ...] = testbeds(*TESTBEDS)
    msg_bytes: tuple[int, ...] = stated(_SIZES)
    working_sets: tuple[str, ...] = stated(_HOT_OR_COLD)
    sensitivity: Sensitivity = section(Sensitivity)

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
