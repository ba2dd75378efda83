"""What differs between two sides besides what was measured: host, configuration, programs."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.compare.runs.folders import BUILDS, SETTINGS, Results
from copycost.compare.runs.samples import CELL

# in host.json under two names, of which that of the identity is told
_TWICE = {
    "cpu.model", "cpu.cpus_online", "cpu.governor", "cpu.turbo", "kernel.release",
    "kernel.version", "memory.memlock_bytes", "net.optmem_max", "net.tcp_rmem", "net.tcp_wmem",
    "net.rmem_max", "net.wmem_max", "net.congestion_default", "perf.version", "perf.paranoid",
    "perf.nmi_watchdog", "tools.perf.version", "tools.ip.version", "tools.ethtool.version",
    "tools.nft.version",
}  # fmt: skip
_NOT_THE_HOST = ("schema_version", "unknown", "tools.", "testbeds.", "perf.path")
_BUILD = re.compile(r"source (?P<source>\w+), (?P<compiler>.+?), flags (?P<flags>.*)")
_SHOWN = 12  # characters of a digest


def differences(a: Sequence[Results], b: Sequence[Results]) -> list[Facts]:
    """Return what no run of one side shares with any of the other.

    Each has `group`, `name`, and the values of the sides, `a` and `b`, as lists of texts. Settings
    are those read back from the connections of cells that both have: `n_cells` differ in it.
    """
    told: dict[str, Callable[[Results], Mapping[str, str]]] = {
        "host": lambda run: {
            name.removeprefix("identity."): value for name, value in _leaves(run.host)
            if name not in _TWICE and not name.startswith(_NOT_THE_HOST)
        },
        "guest": _guest,
        # which cells were measured, the tables tell
        "configuration": lambda run: dict(_leaves(run.config.get("measure", {}), "measure")),
        "program": _programs,
    }  # fmt: skip
    found = []
    for group, values_of in told.items():
        sides = [[values_of(run) for run in runs] for runs in (a, b)]
        for name in dict.fromkeys(name for run in (*sides[0], *sides[1]) for name in run):
            one, other = (
                list(dict.fromkeys(run.get(name, "none") for run in side)) for side in sides
            )
            if not set(one) & set(other):
                found.append({"group": group, "name": name, "a": one, "b": other})
    return [*found, *_settings(a, b)]


def _guest(run: Results) -> dict[str, str]:
    """Return what guests were made of; nothing where the run has none."""
    if not run.guest:
        return {}
    virtual = run.guest["virtual"]
    told = {
        **(virtual.get("spec") or {}),
        "kernel": (virtual.get("kernel") or {}).get("release"),
        "qemu": virtual.get("qemu"),
    }
    return {name: str(value) for name, value in told.items() if name != "initrd"}


def _leaves(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        yield name, ", ".join(map(str, value)) or "none"
    else:
        yield name, "none" if value is None else str(value)


def _programs(run: Results) -> dict[str, str]:
    """Return commit, and sources, compilers and flags of the programs that were measured."""
    rows = run.repetitions
    found: dict[str, set[str]] = {"commit": set(rows["commit"].dropna().astype(str))}
    for build in BUILDS:
        side = build.removesuffix("_build")
        names = rows["implementation"] if side == "sender" else rows["receiver"]
        for name, text in sorted({*zip(names, rows[build].fillna(""), strict=True)}):
            match = _BUILD.fullmatch(text)
            for part, value in match.groupdict().items() if match else ():
                key = f"{side} {name}, source" if part == "source" else f"{part} of the {side}"
                found.setdefault(key, set()).add(value[:_SHOWN] if part == "source" else value)
    return {name: " and ".join(sorted(values)) for name, values in found.items() if values}


def _settings(a: Sequence[Results], b: Sequence[Results]) -> Iterator[Facts]:
    """Yield the columns whose values on one side never occur on the other, in how many cells."""
    tables = [pd.concat([run.repetitions for run in runs]) for runs in (a, b)]
    for name in SETTINGS:
        values = (table.dropna(subset=name).groupby(CELL)[name].agg(frozenset) for table in tables)
        both = pd.concat(values, axis=1, join="inner", keys=["a", "b"])
        apart = both[[not one & other for one, other in zip(both["a"], both["b"], strict=True)]]
        if len(apart):
            yield {
                "group": "setting", "name": name, "a": _texts(apart["a"]), "b": _texts(apart["b"]),
                "n_cells": len(apart),
            }  # fmt: skip


def _texts(values: Iterable[frozenset[Any]]) -> list[str]:
    """Return the values of some cells as texts, whole numbers without a point."""
    found = sorted({value for some in values for value in some}, key=str)
    return [
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in found
    ]


def order_of(a: Sequence[Results], b: Sequence[Results]) -> str:
    """Return ``a_first`` or ``b_first`` where all of a side was measured before the other.

    Else ``in_turn``. By the wall clock, which is that of each host.
    """
    starts = (pd.concat([run.repetitions["started_at"] for run in runs]) for runs in (a, b))
    (first_a, last_a), (first_b, last_b) = ((side.min(), side.max()) for side in starts)
    if last_a < first_b:
        return "a_first"
    return "b_first" if last_b < first_a else "in_turn"
