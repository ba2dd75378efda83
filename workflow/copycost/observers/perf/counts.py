"""What ``perf stat -j`` counted, from perf 5.x to 6.x, and which of it is a measurement.

Format (tools/perf/util/stat-display.c, perf-stat(1) "JSON FORMAT"): maybe a ``#`` line and an empty
one, then one JSON object per line (the first versions put several on some). ``counter-value`` is a
string: a number, ``<not supported>`` or ``<not counted>``; only it decides validity, since
``pcnt-running`` may read 100 for the last two as well. Keys come and go with perf's version;
objects that carry only a derived metric have no ``event`` or no ``counter-value``.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypedDict

from copycost.errors import ParseError
from copycost.observers.perf.command import PerfPlan
from copycost.observers.perf.events import HARDWARE_EVENTS, KERNEL_EVENTS

CountStatus = Literal["counted", "not_supported", "not_counted"]
EventStatus = Literal["counted", "not_supported", "not_counted", "multiplexed"]
PerfStatus = Literal["counted", "forbidden", "missing", "failed"]

_MARKS: dict[str, CountStatus] = {
    "<not supported>": "not_supported",
    "<not counted>": "not_counted",
}
# what turns a plain count, which has no unit, into itself and a time into ns
_SCALES = {"": 1.0, "nsec": 1.0, "ns": 1.0, "usec": 1e3, "msec": 1e6, "sec": 1e9}
# modifiers follow a colon, or the last slash of a `pmu/event/` name
_MODIFIERS = re.compile(r"(?::|(?<=/))([a-zA-Z]+)$")
_MOST_SHOWN = 300
# a virtual machine's counters may be live but wrong; no processor that works is this slow
_FEWEST_INSTRUCTIONS_PER_S = 1e7


@dataclass(frozen=True, slots=True)
class PerfCount:
    """One line of perf's output: an event, by perf's name without modifiers, times in ns.

    `running_percent` is the share of the enabled time in which the counter ran; None where perf
    does not say. `user_only` tells that the kernel's part is not in the count (modifier `u`).
    """

    event: str
    value: float | None
    status: CountStatus
    running_percent: float | None
    user_only: bool


class PerfEvent(TypedDict):
    """One event of one side.

    `value` is None unless `status` is counted or multiplexed (then perf has scaled it up from
    the `running_percent` of the time). `parts` holds the values per core type of a hybrid CPU.
    """

    value: float | None
    status: EventStatus
    running_percent: float | None
    user_only: bool
    parts: NotRequired[dict[str, float | None]]


class PerfSide(TypedDict):
    """What perf counted for one side within the window."""

    status: PerfStatus
    reason: str | None
    events: dict[str, PerfEvent]


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
    decoder = json.JSONDecoder()
    while line:
        item, end = decoder.raw_decode(line)
        yield item
        line = line[end:].lstrip()


def _count(item: dict[str, Any]) -> PerfCount:
    event, user_only = _without_modifiers(item["event"])
    printed = str(item["counter-value"]).strip()
    status = _MARKS.get(printed, "counted")
    if status != "counted":
        return PerfCount(event, None, status, None, user_only)
    unit = str(item.get("unit") or "")
    if unit not in _SCALES:
        raise ValueError(f"unknown unit {unit!r}")
    running = item.get("pcnt-running")
    percent = None if running is None else _number(running)
    return PerfCount(event, _number(printed) * _SCALES[unit], status, percent, user_only)


def _number(printed: Any) -> float:  # noqa: ANN401 - any JSON value
    value = float(printed)
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{value} is no count")
    return value


def _without_modifiers(name: str) -> tuple[str, bool]:
    """Return an event's name without modifiers, and whether they say "user mode only"."""
    match = _MODIFIERS.search(name)
    if match is None:
        return name, False
    return name[: match.start()], "u" in match[1] and "k" not in match[1]


def no_perf(host: Mapping[str, Any], status: PerfStatus, reason: str | None) -> PerfSide:
    """Return the entry of a side that was measured without perf."""
    events = {name: _not_asked_for(event) for name, event in host["perf"]["events"].items()}
    return {"status": status, "reason": reason, "events": events}


def join_counts(host: Mapping[str, Any], plan: PerfPlan, counts: Sequence[PerfCount]) -> PerfSide:
    """Return one side's entry of the record from what perf counted.

    The host facts name all events, also those not asked for. On a hybrid CPU an event has a count
    per core type.
    """
    events = {
        name: _event(name, plan.events[name], counts)
        if name in plan.events
        else _not_asked_for(event)
        for name, event in host["perf"]["events"].items()
    }
    reason = _wrong_counters(events)
    if reason is not None:
        for name in HARDWARE_EVENTS & events.keys():
            events[name] = _empty("not_counted", user_only=events[name]["user_only"])
    return {"status": "counted", "reason": reason, "events": events}


def _event(name: str, perf_name: str, counts: Sequence[PerfCount]) -> PerfEvent:
    wanted, _ = _without_modifiers(perf_name)
    # the event itself, or that of each core type: `cpu_core/cycles/`
    found = [one for one in counts if one.event == wanted or one.event.endswith(f"/{wanted}/")]
    if not found:
        return _empty("not_counted")
    # CPU time is the whole time, whatever the modifier says
    user_only = name != "task_clock_ns" and any(count.user_only for count in found)
    event = _empty("not_counted", user_only=user_only)
    values = [count.value for count in found if count.value is not None]
    running = [one.running_percent for one in found if one.running_percent is not None]
    if len(values) == len(found) and not (user_only and name in KERNEL_EVENTS):
        least = min(running, default=None)
        event["value"], event["running_percent"] = sum(values), least
        event["status"] = "counted" if least is None or least >= 100 else "multiplexed"
    elif all(count.status == "not_supported" for count in found):  # some core types are not all
        event["status"] = "not_supported"
    if len(found) > 1:
        event["parts"] = {count.event.split("/")[0]: count.value for count in found}
    return event


def _wrong_counters(events: Mapping[str, PerfEvent]) -> str | None:
    """Return why the hardware counters are no measurement, if they are live but wrong."""
    if not {"instructions", "task_clock_ns"} <= events.keys():
        return None
    instructions, task_clock_ns = events["instructions"], events["task_clock_ns"]
    # of a program that lives in the kernel, user mode alone may well be this little
    if instructions["value"] is None or instructions["user_only"] or not task_clock_ns["value"]:
        return None
    per_s = instructions["value"] / (task_clock_ns["value"] / 1e9)
    if per_s >= _FEWEST_INSTRUCTIONS_PER_S:
        return None
    return (
        f"the hardware counters are live but wrong: {per_s:.3g} instructions per second of CPU"
        f" time, where a working counter sees more than {_FEWEST_INSTRUCTIONS_PER_S:.0g}"
    )


def _not_asked_for(event: Mapping[str, Any]) -> PerfEvent:
    """Return the entry of an event that perf was not asked for, by its facts of the host."""
    lacking = event["status"] in ("not_supported", "unknown_event")
    return _empty("not_supported" if lacking else "not_counted")


def _empty(status: EventStatus, *, user_only: bool = False) -> PerfEvent:
    return {"value": None, "status": status, "running_percent": None, "user_only": user_only}
