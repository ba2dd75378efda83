"""CPU lists as the kernel writes them: ``0-3,8``."""

from collections.abc import Iterable

_MOST_CPUS = 1 << 16  # more than any host has


def parse_cpu_list(text: str) -> list[int]:
    """Return the CPU numbers of a list such as ``0-3,8``; the empty text means none.

    Raises
    ------
    ValueError
        If a part is neither the number of a CPU nor a range of such numbers.

    Source
    ------
    Kernel document admin-guide/cputopology.rst; ``bitmap_parselist`` in lib/bitmap.c.
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
