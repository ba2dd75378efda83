"""What one run of a cell came to, from the record of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from copycost.errors import AttemptFailed
from copycost.hosts.side import REFERENCES, SIDES, hypervisor_of, rest_of_guest
from copycost.measure.drivers.programs.driver import NAME as PROGRAMS
from copycost.measure.drivers.rates import rates_of
from copycost.records.derive import received_bytes, turns_of, window_ns
from copycost.records.record import Record

KIB = 1024.0


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of a cell came to in its window, sampled or not.

    The window is all turns of its own where there was a reference, whose parties are told too.
    """

    window_s: float
    received_bytes: int
    # CPU time by party; that of a hypervisor is without what the processor ran of the guest
    cpu_ns: dict[str, float]
    copied_share: float | None  # of the zero-copy sends, those that the kernel copied after all
    accelerator: str | None  # what ran the guests (kvm, tcg), None where there were none

    def cpus(self, party: str) -> float:
        """CPUs that a party used in the window (1: one CPU, all of the time)."""
        return self.cpu_ns[party] / (self.window_s * 1e9)

    def ns_per_kib(self, party: str) -> float:
        """CPU time of a party per KiB received [ns]; NaN if nothing arrived."""
        received_kib = self.received_bytes / KIB
        return self.cpu_ns[party] / received_kib if received_kib else math.nan


def runs_of(record: Record) -> tuple[Run, ...]:
    """Return what the sampled run came to, and that without sampling; nothing unless measured."""
    plain = record["undisturbed"]
    if record["status"] != "measured" or plain is None:
        return ()
    return run_of(record), run_of(plain)


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
    """Return what a measured record came to; AttemptFailed where iperf3 does not tell."""
    driver, observed = record["driver"], record["observed"]
    assert driver is not None
    own, turns = driver["name"] == PROGRAMS, turns_of(driver)[0]
    length_ns = turns.length_ns if turns else window_ns(driver["sender"] if own else record)
    cpu_ns: dict[str, float] = {}
    for side in SIDES:
        if (counted := observed["perf_stat"][side]) is not None:
            clock_ns = (driver[side]["process"] if own else observed["usage"][side])["cpu_ns"]
            task_clock_ns = counted["events"].get("task_clock_ns", {}).get("value")
            cpu_ns[side] = float(clock_ns if task_clock_ns is None else task_clock_ns)
    guests = observed.get("hypervisor", {}).get("guests", [])
    for guest in guests:
        cpu_ns |= _around(guest, cpu_ns, length_ns)
    if (beside := of_reference(record)) is not None:
        cpu_ns |= zip(REFERENCES, run_of(beside).cpu_ns.values(), strict=False)
    zero_copy = (driver["sender"]["zero_copy"] if own else None) or {"completed": 0}
    known = zero_copy["completed"] and zero_copy["copied"] is not None
    return Run(
        length_ns / 1e9,
        round(received_bytes(driver, turns) if own else _received_by_iperf3(record, length_ns)),
        cpu_ns,
        zero_copy["copied"] / zero_copy["completed"] if known else None,
        guests[0]["accelerator"] if guests else None,
    )


def _around(
    guest: Mapping[str, Any], cpu_ns: Mapping[str, float], length_ns: float
) -> dict[str, float]:
    """Return the CPU time of the rest of a guest, and of its hypervisor, in the window.

    Both were looked at a little before and after it, so their times are scaled to it.
    """
    inside, threads = guest["inside"], guest["threads"].values()
    busy_ns = inside["busy_ns"] * length_ns / inside["window_ns"]
    rest_ns = busy_ns - sum(cpu_ns[side] for side in guest["sides"])
    used_ns = sum(max(0, kind["cpu_ns"] - kind["guest_ns"]) for kind in threads)
    return {
        rest_of_guest(guest["sides"]): max(0.0, rest_ns),
        hypervisor_of(guest["sides"]): used_ns * length_ns / guest["window_ns"],
    }


def _received_by_iperf3(record: Record, length_ns: int) -> float:
    """Return the payload received in the window [bytes].

    What the kernel says was read belongs to the same window; older kernels do not say it.
    """
    rates = rates_of(record)
    for name in ("kernel_bits_per_s", "bits_per_s"):
        if math.isfinite(rates[name]):
            return float(rates[name] / 8 * (length_ns / 1e9))
    reason = "how much iperf3 received in the window is not known"
    raise AttemptFailed(reason, "measure longer")
