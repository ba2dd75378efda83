"""Sizes in bytes, as people write and read them."""

import argparse
import re

_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_SIZE = re.compile(r"\s*(\d+)\s*(B|KiB|MiB|GiB|)\s*")


def parse_size(value: int | str) -> int:
    """Return the number of bytes that a config value such as ``4096`` or ``"64KiB"`` means.

    Raises
    ------
    ValueError
        If the value is not a whole number followed by nothing, B, KiB, MiB or GiB.
    """
    if isinstance(value, bool):
        raise ValueError(f"got {value!r}, must be a size such as 4096 or 64KiB")
    if isinstance(value, int):
        return value
    match = _SIZE.fullmatch(value)
    if match is None:
        raise ValueError(f"got {value!r}, must be a size such as 4096 or 64KiB")
    return int(match[1]) * _UNITS[match[2]]


def size_option(text: str) -> int:
    """Return the number of bytes that an option of a command means, for ``type`` of argparse.

    Raises
    ------
    ArgumentTypeError
        If it is no size, in the words of `parse_size`.
    """
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
