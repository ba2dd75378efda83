"""One row per repetition, read from the raw records."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

_SIDES = ("sender", "receiver")
_COSTS = (
    *("cpu_ns", "ref_cycles", "cycles", "instructions"),
    *("l1d_load_misses", "llc_load_misses", "cache_misses"),
)
# What a way and the reference that it took turns with are compared by.
_COMPARED = ("_per_byte", "_per_message", "throughput_bits_per_s", "service_mean_ns")
# Counts that perf began or ended so late, as a share of the window, are of another time.
_OFF_WINDOW = 0.05
# What a guest says of a time that is longer or shorter by more is not of the window.
_OTHER_TIME = 0.25
# Of the errors that intervals make, looking in between takes this share: docs/method.md.
_OF_LOOKS = 0.2


@dataclass(frozen=True)
class Settings:
    """How intervals were asked for.

    The confidence of the analysis (0 to 1) is higher than stated where rounds were added on the
    way; `resampling` is by how much what so many resamples give may differ from what all of them
    do: five standard errors, in those of a single one.
    """

    confidence: float
    resampling: float


@cache
def config_of(results: Path) -> dict[str, Any]:
    """Return the configuration of a run."""
    found: dict[str, Any] = yaml.safe_load((results / "config.yaml").read_text(encoding="utf-8"))
    return found


def settings_of(results: Path) -> Settings:
    """Return how intervals were asked for, which allow for looking in between."""
    config = config_of(results)
    errors = 1.0 - config["statistics"]["confidence"]
    if config["measure"].get("minutes") not in (None, "none"):
        errors *= 1.0 - _OF_LOOKS
    return Settings(1.0 - errors, 5.0 / math.sqrt(config["statistics"]["resamples"]))


@cache
def repetitions(results: Path, study: str) -> pd.DataFrame:
    """Return a row per measured repetition of a study, empty where there is none.

    The key of the cell, and every quantity that tables are made of, with its unit in its name.
    """
    measure = config_of(results)["measure"]
    by_time = measure.get("minutes") not in (None, "none")  # which decides how many rounds
    most = math.inf if by_time else float(measure.get("repetitions", math.inf))
    return all_repetitions(results, study, most)


def all_repetitions(results: Path, study: str, most_rounds: float = math.inf) -> pd.DataFrame:
    """Return the same of the first so many rounds."""
    rows = []
    for record in records_of(results / "raw" / study):
        if record["cell"]["rep"] > most_rounds:
            continue  # an earlier configuration asked for it, this one does not
        row = {"condition": condition_of(record["cell"]), **record["cell"]}
        row["status"] = record["status"]
        row["started_at"] = record["started_at"]
        row["wall_s"] = record["wall_s"]
        row["ring_bytes"] = record["settings"]["ring_bytes"]
        if record["status"] == "measured":
            row |= _measured(record)
        rows.append(row)
    return pd.DataFrame(rows)


def records_of(folder: Path, pattern: str = "rep=*.json") -> Iterator[dict[str, Any]]:
    """Yield the records below a folder: files hold one, or those of a job."""
    for path in sorted(folder.rglob(pattern)):
        content = json.loads(path.read_text(encoding="utf-8"))
        yield from content.get("repetitions", [content])


def condition_of(cell: dict[str, Any]) -> str:
    """Return what a cell is measured under: the testbed, and what is not as usual."""
    usual = {"working_set": "hot", "receiver": "recv", "placement": "apart"}
    return "_".join([cell["testbed"], *(cell[name] for name in usual if cell[name] != usual[name])])


def _measured(record: dict[str, Any]) -> dict[str, Any]:
    driver = record["driver"]
    ends = _ends(driver)
    far, sender = ends.get("receiver", ends["sender"]), ends["sender"]
    row: dict[str, Any] = {
        "mtu_bytes": record["testbed"]["mtu_bytes"],
        "first_half_share": far["in_window"]["first_half_bytes"] / far["in_window"]["bytes"],
    }
    row |= {
        f"service_{name}": sender["service_time"][name]
        for name in ("median_ns", "p99_ns", "max_ns", "samples")
        if sender["service_time"]
    }
    row["service_sampled_mean_ns"] = (sender["service_time"] or {}).get("mean_ns")
    turns, n_threads = driver.get("slices"), record["cell"]["n_threads"]
    row |= _traffic(driver, record["observed"].get("perf_stat"), turns and (turns, 0), n_threads)
    if beside := driver.get("reference"):
        its = _traffic(beside, beside["perf_stat"], (turns, 1), n_threads)
        row["reference"] = beside["implementation"]
        row |= {f"reference_{name}": of for name, of in its.items() if name.endswith(_COMPARED)}
    window_ns, received = row["window_s"] * 1e9, row["received_bytes"]
    if guests := record["observed"].get("hypervisor"):
        row["accelerator"] = guests["guests"][0]["accelerator"]
        for party, cpus in cpus_of_guests(guests).items():
            row[f"{party}_cpu_ns_per_byte"] = cpus * window_ns / received
    row |= _of_machines(record, window_ns / received)
    row["mss_bytes"] = sender["effective"].get("mss_bytes")
    row["tcp_retransmits"] = None if sender["tcp"] is None else sender["tcp"]["retransmits"]
    if sender["zero_copy"] is not None:
        sends = sender["zero_copy"]
        row |= {f"zc_{name}": sends[name] for name in ("copied", "completed")}
        row["zc_copied_share"] = _over(sends["copied"], sends["completed"])
    if "receiver" in ends:
        row["receive_lowat_bytes"] = ends["receiver"]["effective"]["receive_lowat_bytes"]
        row["read_bytes"] = ends["receiver"]["options"]["read_bytes"]
    if sender["round_trip"] is not None:
        if not turns:
            row["window_s"] = _window_ns(sender) / 1e9  # of the side that counts them
        row |= _round_trips(sender, row)
        if beside:
            trips = _round_trips(beside["sender"], its)
            row |= {f"reference_{name}": of for name, of in trips.items()}
    if sender["tcp"] is None:
        row["rate_limit_bits_per_s"] = sender["options"].get("rate_bytes_per_s", 0) * 8.0 or None
        row |= _datagrams_of(driver)
        # the kernel counts a reference's, too
        known = None if turns else record["observed"].get("kernel")
        row["udp_receive_buffer_errors"] = known and known["udp_receive_buffer_errors"]
    return row


def _ends(driver: dict[str, Any]) -> dict[str, Any]:
    return {side: driver[side] for side in _SIDES if driver[side] is not None}


def _traffic(
    driver: dict[str, Any],
    perf: dict[str, Any] | None,
    turns: tuple[list[list[int]], int] | None,
    n_threads: int,
) -> dict[str, Any]:
    """Return what one sender and its receiver came to.

    `turns` are all turns of a repetition, and which of the two ways this is; None for one alone.
    """
    ends = _ends(driver)
    far, sender = ends.get("receiver", ends["sender"]), ends["sender"]
    received, messages = far["in_window"]["bytes"], sender["in_window"]["messages"]
    far_ns, near_ns = _window_ns(far), _window_ns(sender)
    if turns:
        own = [one for one in turns[0] if one[0] == turns[1]]
        far_ns = near_ns = sum(end - start for _, start, end, *_ in own)
        if sender["tcp"] is not None:  # the receiver may count the last ones in another's turn
            received = sum(one[3] for one in own)
    if driver["sink"] is not None:
        sink = driver["sink"]
        received -= received * sink["lost_before_hook"] / sink["sent_datagrams"]
    row: dict[str, Any] = {
        "window_s": far_ns / 1e9,
        "received_bytes": received,
        "messages": messages,
        "throughput_bits_per_s": received * 8e9 / far_ns,
        "service_mean_ns": near_ns * n_threads / messages,
    }
    row |= _counts(perf or {}, ends)
    for cost in _COSTS:
        parts = [row.get(f"{side}_{cost}") for side in ends]
        for side, part in zip(ends, parts, strict=True):
            row[f"{side}_{cost}_per_byte"] = _over(part, received)
        if len(ends) == len(_SIDES):
            row[f"both_{cost}_per_byte"] = _over(_sum(parts), received)
    calls = ("send_calls", "poll_calls", "errqueue_calls", "other_calls")
    n_calls = sum(sender["in_window"][name] for name in calls)
    row["sender_syscalls_per_message"] = n_calls / messages
    switches = _sum([row.get(f"{side}_context_switches") for side in ends])
    row["context_switches_per_message"] = _over(switches, messages)
    return row


def _round_trips(sender: dict[str, Any], traffic: dict[str, Any]) -> dict[str, Any]:
    """Return what one sender's round trips took, and the CPU time of each."""
    times = sender["round_trip"]
    row = {name: times[name] for name in times if name != "percentiles"}
    row["round_trips_per_s"] = times["samples"] / traffic["window_s"]
    used = {side: traffic.get(f"{side}_cpu_ns") for side in _SIDES}
    used["both"] = _sum(list(used.values()))
    return row | {
        f"{side}_cpu_ns_per_round_trip": _over(cpu_ns, times["samples"])
        for side, cpu_ns in used.items()
    }


def _datagrams_of(driver: dict[str, Any]) -> dict[str, int]:
    """Return how many datagrams were sent, from the first to the last, and how many came."""
    sent = int(driver["sender"]["total"]["datagrams"] or 0)
    if driver["sink"] is not None:
        return {"datagrams_sent": sent, "datagrams_lost": int(driver["sink"]["lost_before_hook"])}
    came = int(driver["receiver"]["total"]["datagrams"] or 0)
    return {"datagrams_sent": sent, "datagrams_lost": sent - came}


def cpus_of_guests(found: dict[str, Any]) -> dict[str, float]:
    """Return how many CPUs each guest, its hypervisor and the machine used, each in its window."""
    cpus: dict[str, float] = {"host": found["machine"]["busy_ns"] / found["machine"]["window_ns"]}
    for guest in found["guests"]:
        looked_ns = guest["inside"]["window_ns"]
        inside = guest["inside"]["busy_ns"] / looked_ns
        if abs(looked_ns / guest["window_ns"] - 1.0) > _OTHER_TIME:
            inside = math.nan
        used = {kind: of["cpu_ns"] / guest["window_ns"] for kind, of in guest["threads"].items()}
        outside = sum(used.values())
        own = math.nan if math.isnan(inside) else min(inside, used["vcpu"])
        used |= {"guest": inside, "hypervisor": outside, "overhead": outside - own}
        cpus |= {f"{guest['sides'][0]}_{party}": n for party, n in used.items()}
    return cpus


def _of_machines(record: dict[str, Any], ns_per_byte: float) -> dict[str, Any]:
    """Return what a byte costs each of two machines, what was lost there, and their clocks."""
    if not record["cell"]["testbed"].startswith("wire"):
        return {}
    ends = record["testbed"]["machines"]
    row = {"clock_uncertainty_ns": max(end["clock_uncertainty_ns"] for end in ends.values())}
    costs = []
    trips = record["driver"]["sender"]["round_trip"]
    for side, machine in (record["observed"]["kernel"]["machines"] or {}).items():
        of_time = ns_per_byte / machine["at_ns"]
        costs.append(machine["busy_ns"] * of_time)
        row[f"{side}_machine_cpu_ns_per_byte"] = costs[-1]
        row[f"{side}_machine_softirq_cpu_ns_per_byte"] = machine["softirq_ns"] * of_time
        row[f"{side}_softnet_dropped"] = machine["softnet_dropped"]
        row |= {f"{side}_device_{name}": n for name, n in machine.get("device", {}).items()}
    if not costs:
        return row  # nobody receives
    row["machines_cpu_ns_per_byte"] = sum(costs)
    if trips is not None:
        received = record["driver"]["receiver"]["in_window"]["bytes"]
        per_trip = received / trips["samples"]
        names = [name for name in row if name.endswith("_per_byte")]
        row |= {f"{name.removesuffix('byte')}round_trip": row[name] * per_trip for name in names}
    return row


def _counts(perf: dict[str, Any], ends: dict[str, Any]) -> dict[str, Any]:
    """Return the events of both sides, and their CPU time: perf's where all sides have it."""
    row: dict[str, Any] = {}
    told_the_time = True
    for side in ends:
        events = (perf.get(side) or {"events": {}})["events"]
        window = ends[side]["window"]
        waited_ns = (window["perf_enable_ns"] or 0) + (window["perf_disable_ns"] or 0)
        if waited_ns / _window_ns(ends[side]) > _OFF_WINDOW:
            told_the_time &= events.get("task_clock_ns", {"value": None})["value"] is None
            continue
        row |= {f"{side}_{name}": entry["value"] for name, entry in events.items()}
        running = [
            entry["running_percent"] for entry in events.values() if entry["value"] is not None
        ]
        row[f"{side}_min_running_percent"] = min(running, default=None)
    if not told_the_time:  # nor do the sides' own clocks: their windows differ
        return row
    clocks = [row.get(f"{side}_task_clock_ns") for side in ends]
    by_perf = None not in clocks
    for side, clock in zip(ends, clocks, strict=True):
        row[f"{side}_cpu_ns"] = clock if by_perf else ends[side]["process"]["cpu_ns"]
    return row


def _window_ns(end: dict[str, Any]) -> int:
    return int(end["window"]["end_ns"]) - int(end["window"]["start_ns"])


def _sum(parts: list[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _over(numerator: float | None, denominator: float) -> float | None:
    return None if numerator is None or not denominator else numerator / denominator
