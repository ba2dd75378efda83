"""Everything that the chapter on simulated counts says, as numbers and verdicts.

Simulated counts stand beside what was measured, where both are there: a check of the model. Nothing
else joins the two. Measured misses are those of loads, so the simulated ones are too.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from copycost.analysis.json_values import Facts, plain
from copycost.config.conditions import RECV
from copycost.config.placements import APART
from copycost.config.simulation_variants import PLAIN
from copycost.figures.markers import in_order
from copycost.studies.shared_facts import losses_of
from copycost.studies.simulated.counts import CELL_KEY, LEVELS, MODES
from copycost.studies.simulated.savings import (
    CELL,
    LEAST,
    Place,
    both_sides,
    misses_of,
    saved_copies,
    saved_of,
    saving_of,
)

# metrics of the summary by the level whose misses they count
_MISSES = {"l1d": "l1d_load_misses_per_byte", "llc": "llc_load_misses_per_byte"}

# entered by every system call (arch/x86/entry/common.c)
_SYSTEM_CALL = "do_syscall_64"
_CALLS_DIFFER = 0.02


def compute_facts(
    table: pd.DataFrame,
    functions: pd.DataFrame,
    section: Mapping[str, Any],
    machine: Mapping[str, Any] | None,
    walks: Mapping[str, Any],
) -> Facts:
    """Return the facts.

    `machine` is what counted, as of `machine_of` (None where nothing was counted); `walks` is what
    `walk_facts` says.
    """
    cells = table.drop_duplicates(list(CELL_KEY))
    misses, copied = misses_of(table), copied_shares(table)
    saved = saved_of(misses)
    conditions = [
        _condition(here, saved, functions, machine["caches"], copied)
        for _, here in _unchanged(misses).groupby(list(Place._fields), sort=False)
        if machine
    ]
    facts = {
        "section": {"enabled": section["enabled"]},
        "n_counted": int((cells["status"] == "measured").sum()),
        "n_cells": len(cells),
        "losses": losses_of(cells, CELL_KEY),
        "machine": machine
        and {
            **machine,
            # how the guest's kernel sets and copies memory: whether new pages are zeroed, and the
            # processor says that ``rep movsb`` is fast
            "zeroes_pages": "init_on_alloc=1" in machine["guest"]["kernel_arguments"],
            "repeats_bytes": "-erms" not in machine["guest"]["cpu"].split(","),
        },
        "least": LEAST,
        "conditions": conditions,
        "verdict": _verdict(conditions),
        "walks": walks,
        "beside": None,
    }
    return dict(plain(facts))


def _unchanged(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of cells with nothing changed, by `CELL`."""
    return cells[cells.index.get_level_values("variant") == PLAIN].droplevel("variant")


def _condition(
    misses: pd.DataFrame,
    saved: pd.DataFrame,
    functions: pd.DataFrame,
    caches: Mapping[str, Any],
    copied: Mapping[tuple[str, str], float | None],
) -> Facts:
    place = Place(*misses.index[0][:2])
    misses = misses.droplevel(list(Place._fields)).sort_index(level="msg_bytes")
    names = in_order(misses.index.get_level_values("implementation"))
    savings = []
    for name in names:
        mine = saved[(saved[list(CELL[:3])] == [*place, name]).all(axis=1)]
        if not (mine["variant"] == PLAIN).any():
            continue
        saving = saving_of(mine, name)
        saving["asks_for_none"] = (place.testbed, name) in copied
        saving["copied_share"] = copied.get((place.testbed, name))
        if most := saving["most"]:
            most["copies"] = saved_copies(functions, place, saving, caches)
        savings.append(saving)
    return {
        **place._asdict(),
        "misses": [
            {"implementation": name, "msg_bytes": size, "level": level, **row[level]}
            for name in names
            for size, row in misses.loc[name].iterrows()
            for level in LEVELS
        ],
        "savings": savings,
    }


def _verdict(conditions: Sequence[Facts]) -> Facts:
    """Return which level's misses fall most in most comparisons."""
    savings = [saving for condition in conditions for saving in condition["savings"]]
    levels = [one["most"]["level"] for one in savings if one["verdict"] == "falls"]
    level = max(LEVELS, key=levels.count) if levels else None
    return {
        # comparisons, of a way to send with `two_copy` in one place, and those in which some
        # level's misses fall [count]
        "n": len(savings),
        "n_falling": len(levels),
        # the level that falls most in most of these, and in how many; None where none falls
        "level": level,
        "n_level": levels.count(level) if level else 0,
    }


def copied_shares(table: pd.DataFrame) -> dict[tuple[str, str], float | None]:
    """Return, by testbed and way to send, what the kernel copied after all of what it was to send.

    Only of ways that ask for no copy: of the sends that were reported as done in the windows of all
    cells with nothing changed, those that the kernel had copied; None where none was, or the kernel
    does not tell.
    """
    sides = table[(table["side"] == "sender") & (table["variant"] == PLAIN)]
    rows = sides[sides["simulated_zc_completed"].notna()]
    found: dict[tuple[str, str], float | None] = {}
    for (testbed, implementation), part in rows.groupby(["testbed", "implementation"], sort=False):
        copied, completed = part["simulated_zc_copied"], part["simulated_zc_completed"].sum()
        known = completed and not copied.isna().any()
        found[str(testbed), str(implementation)] = (
            float(copied.sum()) / float(completed) if known else None
        )
    return found


def beside_facts(table: pd.DataFrame, functions: pd.DataFrame, summary: pd.DataFrame) -> Facts:
    """Return simulated counts beside measured ones, of the plain cells that have both."""
    rows = summary[
        (summary["study"] == "streams")
        & (summary["n_threads"] == 1)
        & (summary["receiver"] == RECV)
        & (summary["placement"] == APART)
        & (summary["n"] > 0)
    ].drop_duplicates([*CELL, "metric"])
    medians = rows.set_index([*CELL, "metric"])["median"].to_dict()

    def measured(row: Mapping[Hashable, Any], metric: str) -> float | None:
        return medians.get((*(row[name] for name in CELL), metric))

    both = both_sides(table)
    counted = both[both["variant"] == PLAIN].to_dict("records")
    misses = []
    for level, metric in _MISSES.items():
        columns = [f"simulated_{level}_load_misses_{mode}_per_byte" for mode in MODES]
        ratios = [
            sum(float(row[name]) for name in columns) / known
            for row in counted
            for side in ["sender" if row["testbed"] == "sink" else "both"]
            if (known := measured(row, f"{side}_{metric}")) is not None and known > 0.0
        ]
        if ratios:
            of = {"level": level, "n": len(ratios), "low": min(ratios), "high": max(ratios)}
            misses.append(of)
    entered = functions[
        (functions["variant"] == PLAIN)
        & (functions["side"] == "sender")
        & (functions["function"] == _SYSTEM_CALL)
    ].to_dict("records")
    calls = [
        abs(float(row["simulated_calls_per_message"]) - n) <= _CALLS_DIFFER * n
        for row in entered
        if (n := measured(row, "sender_syscalls_per_message")) is not None
    ]
    return {
        # per level that this host counts, in `n` cells: the ratio of the simulated misses of loads
        # to the counted ones
        "misses": misses,
        # cells that have the sender's system calls per message, and those in which they agree
        # within 2 % [count]
        "n_calls": len(calls),
        "n_calls_agree": sum(calls),
    }
