"""From perf's lines to the record: one entry per event, with a status instead of a guess."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from copycost.perf.command import PerfPlan
from copycost.perf.events import HARDWARE_EVENTS, KERNEL_EVENTS
from copycost.perf.output import PerfCount, split_modifiers

EventStatus = Literal["counted", "not_supported", "not_counted", "multiplexed"]
PerfStatus = Literal["counted", "forbidden", "missing", "failed"]

# a virtual machine's counters may be live but wrong; no processor that works is this slow
_FEWEST_INSTRUCTIONS_PER_S = 1e7


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


def no_perf(host: Mapping[str, Any], status: PerfStatus, reason: str | None) -> PerfSide:
    """Return the entry of a side that was measured without perf."""
    events = {
        name: _not_asked_for(event["status"]) for name, event in host["perf"]["events"].items()
    }
    return {"status": status, "reason": reason, "events": events}


def join_counts(host: Mapping[str, Any], plan: PerfPlan, counts: Sequence[PerfCount]) -> PerfSide:
    """Return one side's entry of the record from what perf counted.

    The host facts name all events, also those not asked for. On a hybrid CPU an event has a count
    per core type.
    """
    events = {
        name: _event(name, plan.events[name], counts)
        if name in plan.events
        else _not_asked_for(event["status"])
        for name, event in host["perf"]["events"].items()
    }
    reason = _wrong_counters(events)
    if reason is not None:
        for name in HARDWARE_EVENTS & events.keys():
            events[name] = {**_empty("not_counted"), "user_only": events[name]["user_only"]}
    return {"status": "counted", "reason": reason, "events": events}


def _event(name: str, perf_name: str, counts: Sequence[PerfCount]) -> PerfEvent:
    wanted, _ = split_modifiers(perf_name)
    found = [count for count in counts if _means(count.event, wanted)]
    if not found:
        return _empty("not_counted")
    # CPU time is the whole time, whatever the modifier says
    user_only = name != "task_clock_ns" and any(count.user_only for count in found)
    values = [count.value for count in found if count.value is not None]
    running = [c.running_percent for c in found if c.running_percent is not None]
    event = _empty("not_counted")
    event["user_only"] = user_only
    if len(values) == len(found) and not (user_only and name in KERNEL_EVENTS):
        least = min(running, default=None)
        event["value"], event["running_percent"] = sum(values), least
        event["status"] = "counted" if least is None or least >= 100 else "multiplexed"
    elif all(count.status == "not_supported" for count in found):  # some core types are not all
        event["status"] = "not_supported"
    if len(found) > 1:
        event["parts"] = {count.event.split("/")[0]: count.value for count in found}
    return event


def _means(event: str, wanted: str) -> bool:
    """Return whether perf's name is the wanted one, maybe of one core type: `cpu_core/cycles/`."""
    return event == wanted or ("/" not in wanted and event.endswith(f"/{wanted}/"))


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


def _not_asked_for(host_status: str) -> PerfEvent:
    """Return the entry of an event that perf was not asked for, by its status in the host facts."""
    lacking = host_status in ("not_supported", "unknown_event")
    return _empty("not_supported" if lacking else "not_counted")


def _empty(status: EventStatus) -> PerfEvent:
    return {"value": None, "status": status, "running_percent": None, "user_only": False}
