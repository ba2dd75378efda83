"""The facts that are no conclusions: run, host, method, grid, counters, and what is missing."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from copycost.analysis.conditions import POINT, stream_sections, with_condition
from copycost.analysis.json_values import Facts
from copycost.analysis.stats import ALIKE, estimates, ratios
from copycost.config.passes import (
    FEWEST_ROUNDS,
    PASSES,
    confidence_to_settle,
    stated_confidence,
)
from copycost.config.structure import NONE
from copycost.config.testbeds import PLACEMENTS
from copycost.observers.perf.events import EVENTS


def missing_facts(rows: pd.DataFrame, status: str) -> list[Facts]:
    """Return the skipped or failed repetitions, by their reason, the most frequent one first."""
    lost = rows[rows["status"] == status]
    facts = [
        {
            "reason": str(reason),
            "remedy": next((str(one) for one in part["remedy"].dropna() if str(one)), None),
            "n": len(part),
            "implementations": sorted(set(part["implementation"])),
            "msg_bytes": sorted({int(value) for value in part["msg_bytes"]}),
            "n_threads": sorted({int(value) for value in part["n_threads"]}),
        }
        for reason, part in lost.groupby(lost["reason"].fillna("no reason recorded"), sort=True)
    ]
    return sorted(facts, key=lambda fact: (-fact["n"], fact["reason"]))


_CELL = ["condition", *POINT]


def run_facts(cells: pd.DataFrame, tables: Iterable[pd.DataFrame]) -> Facts:
    """Return how much was measured, of all tables; when and with what, of that of the streams."""
    every = [with_condition(table)[[*_CELL, "status"]] for table in tables]
    status = pd.concat([table["status"] for table in every])
    cells = with_condition(cells)
    measured = cells[cells["status"] == "measured"]
    rounds = measured.groupby(_CELL).size()
    started = sorted(str(stamp) for stamp in cells["started_at"].dropna())
    return {
        "n_cells": sum(len(table[_CELL].drop_duplicates()) for table in every),
        "n_repetitions": len(status),
        "n_measured": int((status == "measured").sum()),
        "n_failed": int((status == "failed").sum()),
        "n_skipped": int((status == "skipped").sum()),
        "rounds_min": int(rounds.min()) if len(measured) else 0,
        "rounds_max": int(rounds.max()) if len(measured) else 0,
        "started_at": started[0] if started else None,
        "finished_at": started[-1] if started else None,
        "commits": _texts(cells["commit"]),
        "host_digests": _texts(cells["host_digest"]),
        "n_boots": len(_texts(cells["boot_id"])),
        "sender_builds": {
            str(name): _texts(rows["sender_build"])
            for name, rows in measured.groupby("implementation")
        },
        "receiver_builds": _texts(measured["receiver_build"]),
    }


def method_facts(cells: pd.DataFrame, config: dict[str, Any]) -> Facts:
    """Return how it was measured: what was asked for, and what took effect."""
    # A foreign table's configuration does not tell what is usual.
    usual: Facts = {"fresh": False, "interval_us": 0, "minutes": NONE}
    measure = usual | dict(config["measure"])
    measured = cells[cells["status"] == "measured"]
    raised = measured.loc[measured["receive_lowat_bytes"] > 1, ["msg_bytes", "receive_lowat_bytes"]]
    by_placement = dict(list(with_condition(measured).groupby("placement")))
    return measure | {
        "n_added_cells": _n_added(cells, config),
        "looks": _look_facts(measure["minutes"], config["statistics"]["confidence"]),
        "statistics": dict(config["statistics"]),
        "interval_methods": {
            "median": estimates.METHOD,
            "ratio": ratios.METHOD,
            "ratio of one cell among others": ratios.FAMILY_METHOD,
            "ratio picked out of many": ratios.PICKED_METHOD,
        },
        # SO_RCVLOWAT of the receivers by message size [bytes], where it is not the kernel's
        "receive_lowat": [
            {"msg_bytes": int(size), "bytes": int(lowat)}
            for size, lowat in sorted(set(raised.itertuples(index=False, name=None)))
        ],
        "read_bytes": sorted(measured["read_bytes"].dropna().astype(int).unique().tolist()),
        "congestion_control_used": _texts(measured["congestion_control"]),
        "placements": [
            {"placement": name}
            | {side: _texts(by_placement[name][side]) for side in ("sender_cpus", "receiver_cpus")}
            for name in PLACEMENTS
            if name in by_placement
        ],
        "user_mode_only": bool(measured["user_mode_only"].fillna(False).astype(bool).any()),
    }


def _look_facts(minutes: float | str, confidence: float) -> Facts | None:
    """Return how rounds were chosen where the time was stated, None where their number was."""
    if isinstance(minutes, str):
        return None
    stated = stated_confidence(confidence)
    return {
        "time_s": 60.0 * minutes,
        "passes": PASSES,
        "fewest_rounds": FEWEST_ROUNDS,
        "alike": ALIKE - 1.0,
        "wrong": round(1.0 - stated, 12),
        "to_settle": confidence_to_settle(stated),
    }


def _n_added(cells: pd.DataFrame, config: dict[str, Any]) -> int:
    """Return how many cells have a size that the configuration does not list."""
    stated = {
        (testbed, size)
        for section in stream_sections(config)
        for testbed in section["testbeds"]
        for size in section["msg_bytes"]
    }
    found = with_condition(cells)[["testbed", *_CELL]].drop_duplicates()
    pairs = zip(found["testbed"], found["msg_bytes"], strict=True)
    return sum((str(testbed), int(size)) not in stated for testbed, size in pairs)


def grid_facts(config: dict[str, Any], conditions: list[str]) -> Facts:
    """Return the grids of all conditions together, by which figures share colours and order."""
    sections = [section for section in stream_sections(config) if section["implementations"]]
    every = {
        name: dict.fromkeys(value for section in sections for value in section[name])
        for name in ("implementations", "msg_bytes", "n_threads")
    }
    return {
        "implementations": list(every["implementations"]),
        "conditions": conditions,
        "msg_bytes": sorted(every["msg_bytes"]),
        "n_threads": sorted(every["n_threads"]),
    }


def counter_facts(cells: pd.DataFrame, host: dict[str, Any]) -> Facts:
    """Return, for every perf event, whether this run has counts of it, and if not, why.

    `status` is ``counted``, ``partly`` (some repetitions lack it), ``zero`` (it reads 0 in every
    repetition, which is no measurement) or ``not_counted``; `reason` is the host's.
    """
    measured = cells[cells["status"] == "measured"]
    known = host.get("perf", {}).get("events", {})
    facts: Facts = {}
    for event in EVENTS:
        received = measured[measured[f"receiver_{event}_status"] != "no_receiver"]
        values = pd.concat([measured[f"sender_{event}"], received[f"receiver_{event}"]])
        share = float(values.notna().mean()) if len(values) else 0.0
        if share == 0.0:
            status = "not_counted"
        elif not (values.fillna(0.0) != 0.0).any():
            status = "zero"
        else:
            status = "counted" if share == 1.0 else "partly"
        on_host = known.get(event, {})
        facts[event] = {
            "status": status,
            "perf_name": on_host.get("perf_name"),
            "host_status": on_host.get("status"),
            "reason": on_host.get("reason"),
        }
    return facts


def _texts(column: pd.Series) -> list[str]:
    return sorted({str(value) for value in column.dropna() if str(value) != ""})
