"""Records of earlier shapes become records of the present one: a results folder into another.

``python -m tools.upgrade_records OLD_RESULTS NEW_RESULTS`` converts the records below
OLD_RESULTS/raw: of all studies (schemas 3 and 4), of streams and round trips (schema 2), of the
studies that iperf3 or a sender of ours drove (``driven``, schema 1), and of profiles (schema 1),
with their folded stacks. No measured value is changed. What an earlier shape did not keep is null
where the present one allows that. The placement, which none of them names, follows from the CPUs.

Of profiles it kept what each run came to (`Run`) and not what the programs had printed. So their
driver's payload is the smallest from which `copycost.studies.profile.runs.run_of` gives the same
`Run`: of the counts in it only those that a `Run` has mean anything, and the others are 0.
"""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from copycost.drivers.iperf3.driver import NAME as IPERF3
from copycost.drivers.programs.driver import NAME as PROGRAMS
from copycost.errors import DataError
from copycost.grid.cells import DIMENSIONS, RAW_ROOT, Cell
from copycost.grid.placements import APART, SAME
from copycost.hosts.side import SIDES
from copycost.records.record import SCHEMA_VERSION, Record, cell_of, load_record, write_record
from copycost.studies.profile.folded import SUFFIX

Content = dict[str, Any]

# the addresses were not kept; they have always been these
_ADDRESSES = {"loopback": ["127.0.0.1", "127.0.0.1"]}
_VETH_ADDRESSES = ["198.18.0.1", "198.18.0.2"]
_USAGE = (
    *("window_ns", "cpu_ns", "waiting_ns"),
    *("read_bytes", "written_bytes", "read_calls", "write_calls"),
)
_NO_DETAIL = "not kept"


def upgrade(old: Mapping[str, Any]) -> Content:
    """Return the record of the present shape.

    Raises
    ------
    DataError
        If the record is of no earlier shape that is known here.
    """
    return _with_machines(_upgrade_to_4(old))


def _upgrade_to_4(old: Mapping[str, Any]) -> Mapping[str, Any]:
    match old["study"], old["schema_version"]:
        case ("streams" | "round_trips", 2):
            return _programs_record(old)
        case ("cpu_budget" | "datagrams", 1):
            return _driven_record(old)
        case ("profile", 1):
            return _profile_record(old)
        case (_, 3):
            return _with_placement(old)
        case (_, 4):
            return old
        case study, version:
            raise DataError(f"a record of {study} with schema {version} cannot be converted")


def _with_machines(old: Mapping[str, Any]) -> Content:
    """Return a record of schema 4 with the machine of its sides: both ran on the one it is from."""
    undisturbed = old["undisturbed"]
    testbed = old["testbed"]
    if testbed is not None:
        machine = {
            "name": "this host",
            "kind": "local",
            "facts_digest": old["host_digest"],
            "clock_offset_ns": 0,
            "clock_uncertainty_ns": 0,
        }
        testbed = {**testbed, "machines": dict.fromkeys(SIDES, machine)}
    observed = dict(old["observed"])
    if "kernel" in observed:
        observed["kernel"] = {**observed["kernel"], "machines": None}
    return {
        **old,
        "schema_version": SCHEMA_VERSION,
        "testbed": testbed,
        "observed": observed,
        "undisturbed": undisturbed and _with_machines(undisturbed),
    }


def _with_placement(old: Mapping[str, Any]) -> Content:
    undisturbed = old["undisturbed"]
    return {
        **old,
        "schema_version": SCHEMA_VERSION,
        "cell": _placed(old["study"], old["cell"], old["settings"]),
        "undisturbed": undisturbed and _with_placement(undisturbed),
    }


def _placed(study: str, cell: Content, settings: Mapping[str, Any]) -> Content:
    """Return a cell with its placement: both lists of CPUs were equal where it was on one CPU."""
    if "placement" not in DIMENSIONS[study]:
        return cell
    sender_cpus, receiver_cpus = (settings.get(f"{side}_cpus") for side in SIDES)
    together = sender_cpus and sender_cpus == receiver_cpus
    rest = dict(cell)
    rep = rest.pop("rep")
    return {**rest, "placement": SAME if together else APART, "rep": rep}


def _envelope(old: Mapping[str, Any], cell: Content, settings: Mapping[str, Any]) -> Content:
    """Return a record with what those of all studies have, and nothing measured."""
    start_ns, end_ns = old.get("start_ns", 0), old.get("end_ns", 0)
    return {
        "schema_version": SCHEMA_VERSION,
        "study": old["study"],
        "cell": _placed(old["study"], cell, settings),
        **{name: old[name] for name in ("status", "reason", "remedy")},
        "settings": {
            "warmup_s": settings["warmup_s"],
            "duration_s": settings["duration_s"],
            "congestion_control": settings.get("congestion_control", "cubic"),
            "tcp_nodelay": settings.get("tcp_nodelay", "kernel"),
            "send_buffer_bytes": settings.get("send_buffer_bytes"),
            "receive_buffer_bytes": settings.get("receive_buffer_bytes"),
            # nobody there, or nobody placed
            "sender_cpus": settings.get("sender_cpus") or None,
            "receiver_cpus": settings.get("receiver_cpus") or None,
            "mode": "request_response" if old["study"] == "round_trips" else "stream",
            "fresh": settings.get("fresh", False),
            "ring_bytes": settings.get("ring_bytes"),
            "interval_ns": settings.get("interval_ns", 0),
        },
        **{name: old[name] for name in ("host_digest", "commit", "boot_id")},
        "started_at": old.get("started_at", ""),
        "start_ns": start_ns,
        "end_ns": end_ns,
        "lock_wait_s": old.get("lock_wait_s", 0.0),
        "wall_s": old.get("wall_s", (end_ns - start_ns) / 1e9),
        "testbed": old.get("testbed"),
        "driver": None,
        "window": None,
        "observed": {},
        "undisturbed": None,
        "warnings": old.get("warnings", []),
    }


def _programs_record(old: Mapping[str, Any]) -> Content:
    record = _envelope(old, old["cell"], old["settings"])
    if old["status"] != "measured":
        return record
    sides = {side: old[side] for side in SIDES}
    record["driver"] = {"name": PROGRAMS, **sides, "sink": old["sink"]}
    window = (old["receiver"] or old["sender"])["window"]
    record["window"] = {edge: window[edge] for edge in ("start_ns", "end_ns")}
    observed = {"perf_stat": old["perf"], "kernel": old["kernel"]}
    record["observed"] = {name: entry for name, entry in observed.items() if entry is not None}
    return record


def _driven_record(old: Mapping[str, Any]) -> Content:
    theirs = old["cell"]
    cell = {
        "testbed": theirs["testbed"],
        "implementation": theirs["driver"],
        "msg_bytes": theirs.get("datagram_bytes") or old["settings"]["message_bytes"],
        "n_threads": theirs["n_streams"],
        **{name: theirs[name] for name in ("limiter", "limit_percent", "rep") if name in theirs},
    }
    record = _envelope(old, cell, old["settings"])
    record["testbed"] = old["testbed"] and {
        **old["testbed"],
        "addresses": _ADDRESSES.get(old["testbed"]["kind"], _VETH_ADDRESSES),
    }
    if old["study"] == "datagrams" and cell["testbed"] == "loopback":
        cell["testbed"] = "loopback_udp"
        record["testbed"] = record["testbed"] and {**record["testbed"], "kind": "loopback_udp"}
    if old["status"] != "measured":
        return record
    driver = old["driver"]
    record["driver"] = driver
    if driver["name"] != IPERF3:
        record["settings"]["ring_bytes"] = 0  # these studies had hot messages only
        (pair,) = driver["pairs"]
        reports = {"sender": pair["client"], "receiver": pair["server"]}
        record["driver"] = {"name": PROGRAMS, **reports, "sink": None}
    record["window"] = old["window"]
    record["observed"] = {
        "perf_stat": {side: old[side]["perf"] for side in SIDES},
        "usage": {side: {name: old[side][name] for name in _USAGE} for side in SIDES},
    }
    if old["limiter"] is not None:
        record["observed"]["cpu_limit"] = old["limiter"]
    if old["datagrams"] is not None:
        record["observed"]["datagrams"] = old["datagrams"]
    return record


def _profile_record(old: Mapping[str, Any]) -> Content:
    cell = dict(old["cell"])
    if cell["implementation"] == "iperf3_udp":
        cell["implementation"] = IPERF3
        if cell["testbed"] == "loopback":
            cell["testbed"] = "loopback_udp"
    run = old["sampled"]
    record = _envelope(old, cell, {"warmup_s": 0, "duration_s": run["window_s"] if run else 1})
    if old["status"] != "measured":
        return record
    _put_run(record, run)
    record["observed"]["sampling"] = old["sampling"]
    plain = old["plain"]
    undisturbed = _envelope(old, cell, {"warmup_s": 0, "duration_s": plain["window_s"]})
    _put_run(undisturbed, plain)
    record["undisturbed"] = undisturbed
    return record


def _put_run(record: Content, run: Mapping[str, Any]) -> None:
    """Put what a run came to into its record, where `run_of` finds it."""
    window = {"start_ns": 0, "end_ns": round(run["window_s"] * 1e9)}
    record["started_at"] = run["started_at"]
    record["warnings"] = [{"code": code, "detail": _NO_DETAIL} for code in run["warnings"]]
    record["window"] = window
    sides = run["sides"]
    record["observed"]["perf_stat"] = {
        side: _perf_of(sides[side]) if side in sides else None for side in SIDES
    }
    if record["cell"]["implementation"] == IPERF3:
        record["driver"] = _iperf3_payload(record["cell"]["n_threads"])
        record["observed"]["usage"] = {
            side: {
                **dict.fromkeys(_USAGE),
                "window_ns": window["end_ns"],
                "cpu_ns": round(sides[side]["cpu_ns"]),
                "read_bytes": run["received_bytes"] if side == "receiver" else None,
            }
            for side in SIDES
        }
    else:
        record["driver"] = _programs_payload(record["cell"], run, window)


def _perf_of(side: Mapping[str, Any]) -> Content:
    """Return what perf stat tells of the side, which is its CPU time or nothing."""
    if side["cpu_source"] != "task_clock":
        return {"status": "missing", "reason": _NO_DETAIL, "events": {}}
    clock = {"value": side["cpu_ns"], "status": "counted"}
    event = {**clock, "running_percent": None, "user_only": False}
    return {"status": "counted", "reason": None, "events": {"task_clock_ns": event}}


def _iperf3_payload(n_streams: int) -> Content:
    """Return what iperf3 would have left; its intervals, too few, leave the word to the kernel."""
    interval = {"sum": {"start": 0, "end": 0, "bytes": 0}}
    pair = {"began_ns": 0, **{role: {"intervals": [interval]} for role in ("client", "server")}}
    return {
        "name": IPERF3,
        "version": _NO_DETAIL,
        "path": _NO_DETAIL,
        "process_pairs": 1,
        "streams_per_pair": n_streams,
        "pairs": [pair],
    }


def _programs_payload(cell: Content, run: Mapping[str, Any], window: Content) -> Content:
    sides = run["sides"]
    sender = {
        **_report("sender", run, sides["sender"], window),
        "strategy": Cell("profile", **cell).strategy,
        "ring": dict.fromkeys(("bytes", "messages"), 0) | {"fresh": False},
        "zero_copy": _zero_copy(run["copied_share"]),
        "round_trip": None,
        "service_time": dict.fromkeys(("sample_every", "samples"), 0)
        | dict.fromkeys(("mean_ns", "median_ns", "p99_ns", "max_ns")),
    }
    calls = ("send_calls", "poll_calls", "errqueue_calls", "other_calls")
    events = ("messages", *calls, "short_writes", "enobufs_count", "eintr_count", "slot_waits")
    for part in ("in_window", "total"):
        sender[part] = dict.fromkeys((*events, "datagrams"), 0) | sender[part]
    receiver = None
    if "receiver" in sides:
        receiver = {
            **_report("receiver", run, sides["receiver"], window),
            "receiver": cell["receiver"],
            "verify": None,
        }
        counts = ("recv_calls", "eintr_count", "mapped_bytes", "datagrams")
        for part in ("in_window", "total"):
            receiver[part] = dict.fromkeys(counts, 0) | receiver[part]
    return {"name": PROGRAMS, "sender": sender, "receiver": receiver, "sink": None}


def _report(
    program: str, run: Mapping[str, Any], side: Mapping[str, Any], window: Mapping[str, int]
) -> Content:
    """Return what both programs print alike."""
    n_bytes = run["received_bytes"]
    start_ns, end_ns = window["start_ns"], window["end_ns"]
    counts = ("user_ns", "system_ns", "voluntary_switches", "involuntary_switches")
    buffers = ("send_buffer_bytes", "receive_buffer_bytes", "receive_lowat_bytes")
    return {
        "schema_version": 1,
        "program": program,
        "build": dict.fromkeys(("source_digest", "compiler", "flags"), _NO_DETAIL),
        "options": {},
        "effective": dict.fromkeys(("congestion_control", "tcp_nodelay", "mss_bytes"))
        | dict.fromkeys(buffers, 0),
        "window": {
            **{"planned_start_ns": start_ns, "planned_end_ns": end_ns},
            **{"start_ns": start_ns, "half_ns": start_ns, "end_ns": end_ns},
            **{"perf_enable_ns": None, "perf_disable_ns": None},
        },
        "in_window": {"bytes": n_bytes, "first_half_bytes": 0},
        "total": {"bytes": n_bytes},
        "process": dict.fromkeys((*counts, "minor_faults", "major_faults"), 0)
        | {"cpu_ns": round(side["cpu_ns"])},
        "tcp": None,
        "threads": [],
    }


def _zero_copy(copied_share: float | None) -> Content | None:
    """Return counts of sends with this share of copied ones, exactly; None where nobody knows."""
    if copied_share is None:
        return None
    copied, completed = copied_share.as_integer_ratio()
    counts = {"sent": completed, "completed": completed, "copied": copied, "notifications": 0}
    in_window = {f"{name}_in_window": 0 for name in counts}
    return {**counts, **in_window, "copied_unknown": None}


def upgrade_tree(old: Path, new: Path) -> int:
    """Convert all records below a folder, copy their folded stacks, and return their number.

    Raises
    ------
    DataError
        If one cannot be converted; the message names it.
    """
    found = sorted(old.rglob("*.json"))
    for path in found:
        try:
            old_record = load_record(path.read_bytes(), path)  # without its digest
            record = cast("Record", upgrade(cast("Mapping[str, Any]", old_record)))
        except (DataError, KeyError, TypeError, ValueError) as error:
            raise DataError(f"{path}: cannot be converted: {error!r}") from error
        there = new / Path(cell_of(record).path).relative_to(RAW_ROOT)
        there.parent.mkdir(parents=True, exist_ok=True)
        write_record(record, there)
        stacks = path.with_name(path.stem + SUFFIX)
        if stacks.exists():
            shutil.copyfile(stacks, there.with_name(there.stem + SUFFIX))
    return len(found)


def main(arguments: list[str]) -> int:
    """Convert what the command line names."""
    if len(arguments) != 2:
        print("usage: python -m tools.upgrade_records OLD_RESULTS NEW_RESULTS", file=sys.stderr)
        return 2
    old, new = map(Path, arguments)
    print(f"{upgrade_tree(old / 'raw', new / 'raw')} records converted")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
