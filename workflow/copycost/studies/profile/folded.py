"""Folded stacks: what is kept of a profile, one line per different stack.

``sender;__send;...;tcp_sendmsg_[k];tcp_sendmsg_locked_[k];_copy_from_iter_[k] 171085500``: the
side, the frames from the outermost in, a space, and the weight. Flame graph programs read that.

Source: stackcollapse-perf.pl of https://github.com/brendangregg/FlameGraph, from where the form and
the marks at the end of names come.
"""

import gzip
import zlib
from collections.abc import Mapping
from pathlib import Path

from copycost.errors import ParseError
from copycost.observers.perf.stacks import Stacks
from copycost.records.files import write_bytes_whole


def write_folded(sides: Mapping[str, Stacks], path: Path) -> None:
    """Write the stacks of all sides, the heaviest first, all of them or nothing.

    The same stacks give the same file, byte by byte.
    """
    lines = [
        (f"{side};{stack}", weight)
        for side, stacks in sides.items()
        for stack, weight in stacks.weights.items()
    ]
    lines.sort(key=lambda line: (-line[1], line[0]))
    text = "".join(f"{stack} {weight}\n" for stack, weight in lines)
    write_bytes_whole(gzip.compress(text.encode(), mtime=0), path)


def read_folded(path: Path) -> dict[str, dict[tuple[str, ...], int]]:
    """Return by side the weight of each stack, which is a tuple of names, outermost first.

    A file that is not one of `write_folded` is a `ParseError`.
    """
    sides: dict[str, dict[tuple[str, ...], int]] = {}
    try:
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            stack, weight = line.rsplit(" ", 1)
            side, *frames = stack.split(";")
            sides.setdefault(side, {})[tuple(frames)] = int(weight)
    except (EOFError, OSError, ValueError, zlib.error) as error:
        raise ParseError(f"{path}: {error}; expected compressed folded stacks") from error
    return sides


def folded_path(record: Path) -> Path:
    """Return the path of the folded stacks that belong to a record."""
    return record.with_suffix(".folded.gz")
