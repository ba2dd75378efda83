"""A part of the report that cannot be made is left out with its reason, and ends no run.

What stands in its place says so. A note beside the log of its step tells the end of the run, and
has the next run make it again.
"""

import csv
import logging
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from html import escape
from pathlib import Path

from copycost.errors import in_words
from copycost.records.disk import lacks_room
from copycost.records.files import newly_unread, read_json, write_json
from copycost.snakefile.logs import log_to_file

LOGS = Path("results/logs")
_SUFFIX = ".left_out"
_BOX = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="454pt" height="56pt" viewBox="0 0 454 56">'
    '<rect x="1" y="1" width="452" height="54" fill="none" stroke="#888"/>'
    '<g font-family="DejaVu Sans Mono" font-size="9"><text x="12" y="23">This figure could not be '
    'drawn:</text><text x="12" y="40">{}</text></g></svg>\n'
)
_BOX_WIDTH = 76


@contextmanager
def made_or_left_out(log: str, given: Iterable[str], outputs: Iterable[str]) -> Iterator[None]:
    """Return a block that makes files which only a part of the report needs.

    Whatever it raises costs these files alone; what it made from others that only stand in for a
    part is replaced by their reasons.
    """
    log_to_file(log)
    known, paths = left_out(), list(outputs)
    missing = {name: why for path in given for name, why in known.get(path, {}).items()}
    try:
        yield
    except Exception as error:  # what was measured is there, and so are other parts
        if lacks_room(error) or newly_unread():
            raise  # it is made once there is room, or what it needs is made again
        if not missing:
            logging.getLogger(__name__).exception("left out")
            missing = {", ".join(sorted({Path(path).stem for path in paths})): in_words(error)}
            print(f"copycost: {_said_of(missing)}; the report goes on without", file=sys.stderr)
    for path in map(Path, paths if missing else ()):
        _stand_in(path, _said_of(missing))
    note_missing(log, paths, missing)


def note_missing(log: str, paths: Iterable[str], missing: Mapping[str, str]) -> None:
    """Note what is missing in files, each part with the reason; nothing may be."""
    path = Path(log).with_suffix(_SUFFIX)
    path.unlink(missing_ok=True)
    if missing:
        write_json({"paths": list(paths), "missing": dict(missing)}, path)


def left_out() -> dict[str, dict[str, str]]:
    """Return the files in which something is missing, each with the parts and the reasons."""
    notes = [read_json(path) for path in sorted(LOGS.rglob(f"*{_SUFFIX}"))]
    return {path: one["missing"] for one in notes for path in one["paths"]}


def _said_of(missing: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {reason}" for name, reason in missing.items())


def remove() -> None:
    """Remove what only stands in, so that this run makes it."""
    for path in map(Path, left_out()):
        path.unlink(missing_ok=True)
    for path in LOGS.rglob(f"*{_SUFFIX}"):
        path.unlink()


def _stand_in(path: Path, reason: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".svg":
        path.write_text(_BOX.format(escape(reason[:_BOX_WIDTH])), encoding="utf-8")
    elif path.suffix == ".json":
        write_json({"left_out": reason}, path)
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["state", "reason"], ["left out", reason]])
