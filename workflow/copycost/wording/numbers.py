"""Numbers, sizes, shares and CPU lists: what they look like, and how a text of them is read."""

import argparse
import math
import re
from collections.abc import Iterable

from copycost.errors import DataError


def finite(value: float) -> float:
    """Return a number that can be written; DataError of a truth value, nan and infinity."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise DataError(f"report text: got {value!r}, expected a finite number in facts.json")
    return float(value)


NBSP = "\u00a0"
"""Stands between a number and its unit, where a line must not break."""


def format_percent(share: float) -> str:
    """Return a share (1 = all) in percent, without rounding a rest away.

    0.9996 is ``over 99.9 %`` and 0.0002 ``under 0.1 %``: only all is 100 % and only nothing is 0 %.
    """
    value = share * 100.0
    if value != 0.0 and abs(value) < 0.1:
        return f"under 0.1{NBSP}%"
    if 99.9 < value < 100.0:
        return f"over 99.9{NBSP}%"
    if abs(value) < 10.0 or 99.0 < value < 100.0:
        text = f"{value:.1f}"
        return f"{text.removesuffix('.0')}{NBSP}%"
    return f"{value:.0f}{NBSP}%"


_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_SIZE = re.compile(r"\s*(\d+)\s*(B|KiB|MiB|GiB|)\s*")


def parse_size(value: int | str) -> int:
    """Return the number of bytes that a config value such as ``4096`` or ``"64KiB"`` means."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _SIZE.fullmatch(str(value))
    if match is None:
        raise ValueError(f"got {value!r}, must be a size such as 4096 or 64KiB")
    return int(match[1]) * _UNITS[match[2]]


def size_option(text: str) -> int:
    """Return the number of bytes that an option of a command means, for ``type`` of argparse."""
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def format_size(n_bytes: int) -> str:
    """Return a size with the largest binary unit that divides it: 65536 is ``64 KiB``."""
    for unit in ("GiB", "MiB", "KiB"):
        if n_bytes >= _UNITS[unit] and n_bytes % _UNITS[unit] == 0:
            return f"{n_bytes // _UNITS[unit]} {unit}"
    return f"{n_bytes} B"


_APPROXIMATE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def approximate_size(n_bytes: int) -> str:
    """Return a size with one decimal, in the largest unit of which there is at least one."""
    power = min(max(n_bytes.bit_length() - 1, 0) // 10, len(_APPROXIMATE_UNITS) - 1)
    return f"{n_bytes / (1 << 10 * power):.1f} {_APPROXIMATE_UNITS[power]}"


_MOST_CPUS = 1 << 16  # more than any host has


def parse_cpu_list(text: str) -> list[int]:
    """Return the CPU numbers of a list such as ``0-3,8``; ValueError if it is none.

    Source: Kernel document admin-guide/cputopology.rst; ``bitmap_parselist`` in lib/bitmap.c.
    """
    cpus: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        if not 0 <= int(first) <= int(last or first) < _MOST_CPUS:
            raise ValueError(f"{part[:20]!r} is no range of CPUs")
        cpus.extend(range(int(first), int(last or first) + 1))
    return cpus


def format_cpu_list(cpus: Iterable[int]) -> str:
    """Return CPU numbers in the kernel's form, ranges joined: {0, 1, 2, 5} is ``0-2,5``."""
    ranges: list[list[int]] = []
    for cpu in sorted(cpus):
        if ranges and cpu == ranges[-1][1] + 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)
