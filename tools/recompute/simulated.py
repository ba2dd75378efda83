"""Simulated counts, read from their raw records: a row per cell and side, and per function."""

import math
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pandas as pd

from tools.recompute.raw import records_of

_LEVELS = ("l1d", "l2", "llc")
_SIDES = ("sender", "receiver", "other")
_MODES = ("user", "kernel")


def counts_of(results: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what the tables of simulated counts have, by cell and by function."""
    sides: list[dict[str, Any]] = []
    functions: list[dict[str, Any]] = []
    for record in records_of(results / "raw/simulated", "*.json"):
        key = {**record["cell"], "status": record["status"]}
        if record["status"] != "measured":
            sides.append(key | {"side": "both"})
            continue
        both: Counter[str] = Counter()
        for side in _SIDES:
            total, found = _side(record, side)
            functions += [record["cell"] | {"side": side} | row for row in found]
            sides.append(key | {"side": side} | total)
            if side != "other":
                both.update({name: n for name, n in total.items() if "_per_" in name})
        sender = next(row for row in reversed(sides) if row["side"] == "sender")
        sides.append(sender | {"side": "both"} | both)
    return pd.DataFrame(sides), pd.DataFrame(functions)


def _side(record: dict[str, Any], side: str) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Return what a side's counts add up to, and those of its functions."""
    window = (record["receiver"] if side == "receiver" else None) or record["sender"]
    n_bytes = window["bytes"]
    # a receiver reads more or less than is sent in the window
    n_messages = n_bytes / record["cell"]["msg_bytes"]
    by_function: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row in record["counted"]["functions"][side]:
        by_function[_MODES[row["kernel"]], row["name"]].update(_counts(row))
    names = _counts(None)
    total = {
        "simulated_bytes": n_bytes,
        "simulated_messages": n_messages,
        "simulated_line_bytes": record["counted"]["caches"]["line_bytes"],
    }
    for mode in _MODES:
        for name in names:
            n = sum(counts[name] for (of, _), counts in by_function.items() if of == mode)
            total[f"simulated_{name}_{mode}_per_byte"] = n / n_bytes
            total[f"simulated_{name}_{mode}_per_message"] = n / n_messages
    sends = record["sender"]["zero_copy"] or {}
    for name in ("completed", "copied"):
        told = sends.get(name) if side == "sender" else None
        total[f"simulated_zc_{name}"] = math.nan if told is None else told
    functions = [
        {"mode": mode, "function": function}
        | {f"simulated_{name}_per_byte": counts[name] / n_bytes for name in names}
        | {"simulated_calls_per_message": counts["calls"] / n_messages}
        for (mode, function), counts in by_function.items()
    ]
    return total, functions


def _counts(row: dict[str, Any] | None) -> dict[str, int]:
    """Return what one function was counted, or nothing of each."""
    told: dict[str, Any] = defaultdict(int) if row is None else row
    nothing = dict.fromkeys(_LEVELS, 0)
    loads, stores, back = (
        told[kind] or nothing for kind in ("load_misses", "store_misses", "write_backs")
    )
    counts = {
        name: told[name]
        for name in ("calls", "instructions", "string_iterations", "loads", "stores")
    }
    for level in _LEVELS:
        counts[f"{level}_misses"] = loads[level] + stores[level]
        counts[f"{level}_load_misses"] = loads[level]
        counts[f"{level}_write_backs"] = back[level]
    return counts
