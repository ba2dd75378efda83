"""What one run of a cell came to, from the record of it."""

import math
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from copycost.hosts.parties import REFERENCES, hypervisor_of, rest_of_guest
from copycost.hosts.side import SIDES
from copycost.measure.drivers.programs.driver import NAME as PROGRAMS
from copycost.measure.drivers.protocol import AGAIN, NoMeasurement, Verdict
from copycost.measure.drivers.rates import rates_of
from copycost.records.record import Record
from copycost.records.windows import received_bytes, turns_of

CpuSource = Literal["task_clock", "process_clock", "guest_clock", "threads"]


class RunSide(TypedDict):
    """CPU time of a party in the window [ns], and what counted it.

    That of a hypervisor is without the time in which the processor ran the guest's instructions.
    """

    cpu_ns: float
    cpu_source: CpuSource


class Run(TypedDict):
    """What one run of the cell came to, sampled or not.

    `received_bytes` are those of the window, which is all of its own turns where there was a
    reference; `sides` are the parties that there were, the reference's among them, and
    `accelerator` is what ran the guests (kvm, tcg), None where there were none.
    """

    started_at: str
    window_s: float
    received_bytes: int
    sides: dict[str, RunSide]
    copied_share: float | None
    accelerator: str | None
    warnings: list[str]


def of_reference(record: Record) -> Record | None:
    """Return the record that the reference of a repetition would have; None without a reference."""
    driver, plain = record["driver"], record["undisturbed"]
    if driver is None or (reference := driver.get("reference")) is None:
        return None
    slices = [[1 - way, *turn] for way, *turn in driver["slices"]]
    return {
        **record,
        "cell": {**record["cell"], "implementation": reference["implementation"]},
        "driver": {**reference, "name": driver["name"], "slices": slices},
        "observed": {**record["observed"], "perf_stat": reference["perf_stat"]},
        "undisturbed": plain and of_reference(plain),
    }


def run_of(record: Record) -> Run:
    """Return what a record came to.

    Raises `NoMeasurement` if there was none.
    """
    if record["status"] != "measured":
        reason, remedy = record["reason"] or "not measured", record["remedy"] or AGAIN
        raise NoMeasurement(Verdict(record["status"], reason, remedy))
    driver = record["driver"]
    assert driver is not None
    own = driver["name"] == PROGRAMS
    window_s = _window_s(record)
    sides: dict[str, RunSide] = {
        side: _cpu(record, side)
        for side in SIDES
        if record["observed"]["perf_stat"][side] is not None
    }
    guests = record["observed"].get("hypervisor", {}).get("guests", [])
    for guest in guests:
        sides |= _around(guest, sides, window_s * 1e9)
    if (beside := of_reference(record)) is not None:
        sides |= zip(REFERENCES, run_of(beside)["sides"].values(), strict=False)
    return {
        "started_at": record["started_at"],
        "window_s": window_s,
        "received_bytes": round(received_bytes(driver, turns_of(driver)[0]))
        if own
        else _received_by_iperf3(record),
        "sides": sides,
        "copied_share": _copied_share(driver["sender"]) if own else None,
        "accelerator": guests[0]["accelerator"] if guests else None,
        "warnings": [warning["code"] for warning in record["warnings"]],
    }


def _window_s(record: Mapping[str, Any]) -> float:
    driver, window = record["driver"], record["window"]
    if (turns := turns_of(driver)[0]) is not None:
        return turns.length_ns / 1e9
    if driver["name"] == PROGRAMS:
        window = driver["sender"]["window"]
    return float((window["end_ns"] - window["start_ns"]) / 1e9)


def _cpu(record: Mapping[str, Any], side: str) -> RunSide:
    """Return a side's CPU time: perf's where it counted, else the process clock's."""
    counted = record["observed"]["perf_stat"][side]["events"].get("task_clock_ns", {}).get("value")
    if counted is not None:
        return {"cpu_ns": float(counted), "cpu_source": "task_clock"}
    driver = record["driver"]
    if driver["name"] == PROGRAMS:
        return {"cpu_ns": float(driver[side]["process"]["cpu_ns"]), "cpu_source": "process_clock"}
    cpu_ns = record["observed"]["usage"][side]["cpu_ns"]
    return {"cpu_ns": float(cpu_ns), "cpu_source": "process_clock"}


def _around(
    guest: Mapping[str, Any], sides: Mapping[str, RunSide], window_ns: float
) -> dict[str, RunSide]:
    """Return the CPU time of the rest of a guest, and of its hypervisor, in the window.

    Both were looked at a little before and after it, so their times are scaled to it.
    """
    inside, threads = guest["inside"], guest["threads"].values()
    busy_ns = inside["busy_ns"] * window_ns / inside["window_ns"]
    rest_ns = busy_ns - sum(sides[side]["cpu_ns"] for side in guest["sides"])
    used_ns = sum(max(0, kind["cpu_ns"] - kind["guest_ns"]) for kind in threads)
    return {
        rest_of_guest(guest["sides"]): {"cpu_ns": max(0.0, rest_ns), "cpu_source": "guest_clock"},
        hypervisor_of(guest["sides"]): {
            "cpu_ns": used_ns * window_ns / guest["window_ns"],
            "cpu_source": "threads",
        },
    }


def _received_by_iperf3(record: Mapping[str, Any]) -> int:
    """Return the payload received in the window [bytes].

    What the kernel says was read belongs to the same window; older kernels do not say it.
    """
    rates = rates_of(record)
    known = (rates["kernel_bits_per_s"], rates["bits_per_s"])
    bits_per_s = next((rate for rate in known if math.isfinite(rate)), None)
    if bits_per_s is None:
        reason = "how much iperf3 received in the window is not known"
        raise NoMeasurement(Verdict("failed", reason, "measure longer"))
    return round(float(bits_per_s) / 8 * _window_s(record))


def _copied_share(sender: Mapping[str, Any]) -> float | None:
    """Return the share of zero-copy sends that the kernel copied after all."""
    zero_copy = sender["zero_copy"]
    if not zero_copy or not zero_copy["completed"] or zero_copy["copied"] is None:
        return None
    return float(zero_copy["copied"] / zero_copy["completed"])
