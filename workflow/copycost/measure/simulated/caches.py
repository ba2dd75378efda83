"""The caches that are simulated, as the plugin is told."""

from dataclasses import dataclass
from typing import Literal

Prefetcher = Literal["none", "next_line"]


@dataclass(frozen=True, slots=True)
class Level:
    """One level: its size [bytes] and the lines of a set [count]."""

    size_bytes: int
    ways: int


@dataclass(frozen=True, slots=True)
class Caches:
    """A hierarchy of caches, each level at least as large as the one before it.

    A line is a power of two; what is fetched before it is needed: see src/simulated/hierarchy.h.
    """

    l1d: Level
    l2: Level
    llc: Level
    line_bytes: int = 64
    prefetcher: Prefetcher = "none"

    def words(self) -> list[str]:
        """Return the plugin's options."""
        levels = {"l1d": self.l1d, "l2": self.l2, "llc": self.llc}
        return [
            *(f"{name}={level.size_bytes}:{level.ways}" for name, level in levels.items()),
            f"line={self.line_bytes}",
            f"prefetcher={self.prefetcher}",
        ]
