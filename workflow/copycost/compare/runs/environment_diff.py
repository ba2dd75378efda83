"""What differs between two sides besides what was measured: host, configuration, programs."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.compare.runs.results import BUILDS, CELL, SETTINGS, Results, section_of

_NOT_THE_HOST = ("schema_version", "identity.", "unknown", "tools.", "testbeds.", "perf.path")
_BUILD = re.compile(r"source (?P<source>\w+), (?P<compiler>.+?), flags (?P<flags>.*)")
_SHOWN = 12  # characters of a digest


def differences(a: Sequence[Results], b: Sequence[Results]) -> list[Facts]:
    """Return what no run of one side shares with any of the other.

    Each has `group`, `name`, and the values of the sides, `a` and `b`, as lists of texts.
    """
    told: dict[str, Callable[[Results], Mapping[str, str]]] = {
        "host": _host,
        "guest": _guest,
        # which cells were measured, the tables tell
        "configuration": lambda run: dict(_leaves(run.config.get("measure", {}), "measure")),
        "program": _programs,
    }
    found = []
    for group, values_of in told.items():
        sides = [[values_of(run) for run in runs] for runs in (a, b)]
        for name in dict.fromkeys(name for run in (*sides[0], *sides[1]) for name in run):
            one, other = (
                list(dict.fromkeys(run.get(name, "none") for run in side)) for side in sides
            )
            if not set(one) & set(other):
                found.append({"group": group, "name": name, "a": one, "b": other})
    return found


def _host(run: Results) -> dict[str, str]:
    """Return what tells hosts apart; much of their identity has a second name elsewhere."""
    identity = section_of(run.host, "identity")
    known = [f"_{name}" for name in identity]
    return dict(_leaves(identity)) | {
        name: value for name, value in _leaves(run.host)
        if not name.startswith(_NOT_THE_HOST)
        and not any(one.endswith(f"_{name.rpartition('.')[2]}") for one in known)
    }  # fmt: skip


def _guest(run: Results) -> dict[str, str]:
    """Return what guests were made of; nothing where the run has none."""
    virtual = section_of(run.guest, "virtual")
    if not virtual:
        return {}
    release = section_of(virtual, "kernel").get("release")
    told = {**section_of(virtual, "spec"), "kernel": release, "qemu": virtual.get("qemu")}
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


def other_settings(a: pd.DataFrame, b: pd.DataFrame) -> Iterator[Facts]:
    """Yield the settings whose values on one side never occur on the other, in `n_cells`.

    They are as `differences`, and were read back from the connections of cells that both have.
    """
    for name in SETTINGS:
        values = (rows.dropna(subset=name).groupby(CELL)[name].agg(frozenset) for rows in (a, b))
        both = pd.concat(values, axis=1, join="inner", keys=["a", "b"])
        apart = both[[not one & other for one, other in zip(both["a"], both["b"], strict=True)]]
        if len(apart):
            sides = {side: _texts(apart[side]) for side in ("a", "b")}
            yield {"group": "setting", "name": name} | sides | {"n_cells": len(apart)}


def _texts(values: Iterable[frozenset[Any]]) -> list[str]:
    """Return the values of some cells as texts, whole numbers without a point."""
    found = sorted(frozenset().union(*values), key=str)
    return [
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in found
    ]


def order_of(a: pd.DataFrame, b: pd.DataFrame) -> str:
    """Return ``a_first`` or ``b_first`` where all of a side was measured before the other.

    Else ``in_turn``. By the wall clock, which is that of each host.
    """
    if a["started_at"].max() < b["started_at"].min():
        return "a_first"
    return "b_first" if b["started_at"].max() < a["started_at"].min() else "in_turn"
