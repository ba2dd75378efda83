"""Reading of /proc and /sys, below a root that tests replace by a captured tree."""

import gzip
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from copycost.wording.numbers import parse_cpu_list

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class HostFiles:
    """The text files by which a kernel describes itself."""

    # ``/`` on the host itself; a folder with captured ``proc`` and ``sys`` in tests
    root: Path = Path("/")

    def text(self, path: str) -> str | None:
        """Return the stripped content of a file, gzipped or not; None where it cannot be read.

        Some files of /sys exist and yet refuse it.
        """
        try:
            content = (self.root / path).read_bytes()
            if path.endswith(".gz"):
                content = gzip.decompress(content)
        except (OSError, ValueError, EOFError, zlib.error):  # ValueError: no path has a NUL
            return None
        return content.decode(errors="replace").strip()

    def lines(self, path: str, n_most: int) -> list[str]:
        """Return the first lines of a file that may be long; none where it cannot be read."""
        try:
            with (self.root / path).open(encoding="utf-8", errors="replace") as file:
                return [line for line, _ in zip(file, range(n_most), strict=False)]
        except OSError:
            return []

    def number(self, path: str) -> int | None:
        """Return the whole number that a file holds, or None."""
        return self.parsed(path, int)

    def parsed(self, path: str, read: Callable[[str], _T]) -> _T | None:
        """Return what is read from a file's text; None where that is no such text, or none."""
        return _parsed(self.text(path), read)

    def cpus(self, path: str) -> list[int] | None:
        """Return the CPU numbers that a file lists, or None."""
        return self.parsed(path, parse_cpu_list)

    def cpu_lists(self, patterns: Sequence[str]) -> dict[str, list[int]]:
        """Return the CPU numbers that the files list which match a pattern, by their paths."""
        found = {path: _parsed(text, parse_cpu_list) for path, text in self.texts(patterns).items()}
        return {path: cpus for path, cpus in found.items() if cpus}

    def glob(self, pattern: str) -> list[Path]:
        """Return the matching paths, sorted, relative to the root."""
        return sorted(path.relative_to(self.root) for path in self.root.glob(pattern))

    def texts(self, patterns: Sequence[str]) -> dict[str, str | None]:
        """Return the texts of all files that match one of several patterns, by their paths."""
        found = (str(path) for pattern in patterns for path in self.glob(pattern))
        return {path: self.text(path) for path in found}


def _parsed(text: str | None, read: Callable[[str], _T]) -> _T | None:
    try:
        return None if text is None else read(text)
    except ValueError:
        return None


@dataclass(slots=True)
class Unknowns:
    """The facts that could not be found, each with its reason."""

    # ``{"cpu.governor": "no cpufreq driver ..."}``, as written to host.json under "unknown"
    reasons: dict[str, str] = field(default_factory=dict)

    def checked(self, key: str, value: _T | None, reason: str) -> _T | None:
        """Pass `value` on; where it is None, note `reason` under `key`."""
        if value is None:
            self.reasons[key] = reason
        return value

    def told(self, room: str, facts: Mapping[str, tuple[object, str]]) -> dict[str, Any]:
        """Return the facts of a room by their names; note the reasons of those that are None."""
        return {
            name: self.checked(f"{room}.{name}", value, reason)
            for name, (value, reason) in facts.items()
        }
