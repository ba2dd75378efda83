"""Parse what ``perf stat -j`` prints, from perf 5.x to 6.x, and judge what is a measurement.

Format (tools/perf/util/stat-display.c, perf-stat(1) "JSON FORMAT"): maybe a ``#`` line and an empty
one, then one JSON object per line (the first versions put several on some). ``counter-value`` is a
string: a number, ``<not supported>`` or ``<not counted>``; only it decides validity, since
``pcnt-running`` may read 100 for the last two as well. Keys come and go with perf's version;
objects that carry only a derived metric have no ``event`` or no ``counter-value``.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from copycost.errors import ParseError

CountStatus = Literal["counted", "not_supported", "not_counted"]

# what turns a plain count, which has no unit, into itself and a time into ns
_SCALES = {"": 1.0, "nsec": 1.0, "ns": 1.0, "usec": 1e3, "msec": 1e6, "sec": 1e9}
# modifiers follow a colon, or the last slash of a `pmu/event/` name
_MODIFIERS = re.compile(r"(?::|(?<=/))([a-zA-Z]+)$")
_MOST_SHOWN = 300
_MARKS: dict[str, CountStatus] = {
    "<not supported>": "not_supported",
    "<not counted>": "not_counted",
}


@dataclass(frozen=True, slots=True)
class PerfCount:
    """One line of perf's output.

    The event is perf's name without modifiers: `cycles`, `msr/tsc/`, `cpu_atom/cycles/`. Times are
    in ns, and there is no value unless `status` is counted. `running_percent` is the share of the
    enabled time in which the counter ran; None where perf does not say. `user_only` tells that the
    kernel's part is not in the count (modifier `u`).
    """

    event: str
    value: float | None
    status: CountStatus
    running_percent: float | None
    user_only: bool


def parse_perf(text: str, file: str) -> tuple[PerfCount, ...]:
    """Return the counts in the output of ``perf stat -j``, in the order of the lines.

    ParseError, with `file`, the line and its text, where a line that begins an object is none, or a
    value is neither a number nor a known mark.
    """
    counts = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("{"):
            continue
        try:
            items = list(_objects(line))
            counts += [_count(i) for i in items if "event" in i and "counter-value" in i]
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise ParseError(
                f"{file}, line {number}: {error}, found {line[:_MOST_SHOWN]!r}; expected an object"
                " as perf stat -j prints it, so look whether this perf is newer than 6.x"
            ) from error
    return tuple(counts)


def _objects(line: str) -> Iterator[dict[str, Any]]:
    """Yield the objects on a line; early versions put several there."""
    decoder = json.JSONDecoder()
    while line:
        item, end = decoder.raw_decode(line)
        yield item
        line = line[end:].lstrip()


def _count(item: dict[str, Any]) -> PerfCount:
    event, user_only = split_modifiers(item["event"])
    printed = str(item["counter-value"]).strip()
    status = _MARKS.get(printed, "counted")
    if status != "counted":
        return PerfCount(event, None, status, None, user_only)
    unit = str(item.get("unit") or "")
    if unit not in _SCALES:
        raise ValueError(f"unknown unit {unit!r}")
    value = _number(printed) * _SCALES[unit]
    running = item.get("pcnt-running")
    return PerfCount(event, value, status, None if running is None else _number(running), user_only)


def _number(printed: Any) -> float:  # noqa: ANN401 - any JSON value
    """Return a count or a share."""
    value = float(printed)
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{value} is no count")
    return value


def split_modifiers(name: str) -> tuple[str, bool]:
    """Return an event's name without modifiers, and whether they say "user mode only"."""
    match = _MODIFIERS.search(name)
    if match is None:
        return name, False
    modifiers = match[1]
    return name[: match.start()], "u" in modifiers and "k" not in modifiers
