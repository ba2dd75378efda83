"""The section `simulated` of the configuration, and its grid."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from copycost.config.cells import Cell, cells_of
from copycost.config.kinds import SOME_IMPLEMENTATIONS, sizes
from copycost.config.structure import (
    HOST,
    NONE,
    Choice,
    ListOf,
    Name,
    Number,
    Or,
    Section,
    Size,
    Word,
    section,
    stated,
    testbeds,
)
from copycost.config.variants import OTHER_KERNEL, PLAIN, VARIANTS

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

    size_bytes: int = stated(Size("a size such as 32KiB", 1024, 4 << 30))
    ways: int = stated(Number("a whole number of ways", 1, 64))


_LEVEL = Section("a level with size_bytes and ways", Geometry)


@dataclass(frozen=True, slots=True)
class CacheSizes:
    """The levels of the cache, as stated."""

    l1d: Geometry = stated(_LEVEL)
    l2: Geometry = stated(_LEVEL)
    llc: Geometry = stated(_LEVEL)


_CACHES = Or({HOST: None}, Section("host, or the levels l1d, l2 and llc", CacheSizes))
_WINDOW = Size("a size such as 4MiB", 64 << 10, 1 << 30)
_LINE = Choice("16, 32, 64, 128 or 256", (16, 32, 64, 128, 256))
_PREFETCHER = Choice("none or next_line", get_args(Prefetcher))
_SIZES = sizes(64, 16 << 20)
_HOT_OR_COLD = ListOf(
    "a list of hot and cold, at least one", Name("hot or cold", ("hot", "cold")), most=2
)


@dataclass(frozen=True, slots=True)
class Counting:
    """What of the section decides what one cell counts; see `Simulated`."""

    window_bytes: int = stated(_WINDOW)
    caches: CacheSizes | None = stated(_CACHES)
    line_bytes: int = stated(_LINE)
    prefetcher: Prefetcher = stated(_PREFETCHER)

    def n_messages(self, msg_bytes: int) -> int:
        """Return how many messages a window holds [count]."""
        return max(_LEAST_MESSAGES, -(-self.window_bytes // msg_bytes))


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Which cells are counted again, each with one thing changed."""

    variants: tuple[str, ...] = stated(
        ListOf("a list of changes", Name("the name of a change", _CHANGES), least=0)
    )
    msg_bytes: tuple[int, ...] = stated(_SIZES)
    working_sets: tuple[str, ...] = stated(_HOT_OR_COLD)
    kernel: str | None = stated(
        Or({NONE: None}, Word("auto, none, or the path of a kernel", most=4096))
    )


@dataclass(frozen=True, slots=True)
class Simulated:
    """The section of the configuration."""

    enabled: Enabled = stated(Choice("auto, true or false", ("auto", True, False)))
    implementations: tuple[str, ...] = stated(SOME_IMPLEMENTATIONS)
    testbeds: tuple[str, ...] = testbeds(*TESTBEDS)
    msg_bytes: tuple[int, ...] = stated(_SIZES)
    working_sets: tuple[str, ...] = stated(_HOT_OR_COLD)
    window_bytes: int = stated(_WINDOW)
    caches: CacheSizes | None = stated(_CACHES)
    line_bytes: int = stated(_LINE)
    prefetcher: Prefetcher = stated(_PREFETCHER)
    sensitivity: Sensitivity = section("with what is changed", Sensitivity)

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
