"""Everything that the chapter on simulated counts says, as numbers and verdicts.

Simulated counts stand beside what was measured, where both are there: a check of the model. Nothing
else joins the two. Measured misses are those of loads, so the simulated ones are too.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from copycost.analysis.json_values import Facts, plain
from copycost.config.conditions import RECV
from copycost.config.placements import APART
from copycost.config.variants import PLAIN, VARIANTS
from copycost.studies.shared_facts import losses_of
from copycost.studies.simulated.columns import CELL_KEY
from copycost.studies.simulated.counts import BOTH, LEVELS, MODES
from copycost.studies.simulated.savings import (
    BASELINE,
    LEAST,
    Place,
    Values,
    carriers,
    change_of,
    instructions_facts,
    level_of,
    saved_at,
    saved_copies,
    saving_of,
    values_by_place,
)

# metrics of the summary by the level whose misses they count
_MISSES = {"l1d": "l1d_load_misses_per_byte", "llc": "llc_load_misses_per_byte"}

_CELL = ["testbed", "implementation", "msg_bytes", "working_set"]
# entered by every system call (arch/x86/entry/common.c)
_SYSTEM_CALL = "do_syscall_64"
_CALLS_DIFFER = 0.02


@dataclass(frozen=True, slots=True)
class Trial:
    """A conclusion, tried again with one thing changed.

    A conclusion is which level's misses a way to send lowers most against `two_copy` at a size, and
    which levels' it raises or leaves as they are.
    """

    # which cell, with nothing changed
    place: Place
    implementation: str
    msg_bytes: int
    variant: str  # what was changed
    # whether the same level still falls most; whether all of the conclusion holds
    keeps_level: bool
    survives: bool


def compute_facts(
    table: pd.DataFrame,
    functions: pd.DataFrame,
    section: Mapping[str, Any],
    machine: Mapping[str, Any] | None,
    walks: Mapping[str, Any],
) -> Facts:
    """Return the facts.

    `machine` is what counted, as of `machine_of` (None where nothing was counted); `walks` is what
    `walk_facts` or `no_walks` says.
    """
    places = values_by_place(table)
    cells = table.drop_duplicates(list(CELL_KEY))
    trials = trials_of(places)
    copied = copied_shares(table)
    conditions = [
        _condition(values, functions, machine["caches"], trials, copied)
        for place, values in places.items()
        if place.variant == PLAIN and machine
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
        "instructions": instructions_facts(table),
        "sensitivity": sensitivity_facts(trials),
        "walks": walks,
        "beside": None,
    }
    return dict(plain(facts))


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


def _condition(
    values: Values,
    functions: pd.DataFrame,
    caches: Mapping[str, Any],
    trials: Sequence[Trial],
    copied: Mapping[tuple[str, str], float | None],
) -> Facts:
    savings = [
        saving
        for name in values.implementations
        if name != BASELINE and (saving := saving_of(values, name)) is not None
    ]
    line_bytes, place = caches["line_bytes"], values.place
    for saving in savings:
        saving["asks_for_none"] = (place.testbed, saving["implementation"]) in copied
        saving["copied_share"] = copied.get((place.testbed, saving["implementation"]))
        saving["functions"], saving["tried"] = [], None
        if most := saving["most"]:
            size = caches[most["level"]]["size_bytes"]
            saving["functions"] = carriers(functions, place, saving, line_bytes)
            most["copies"] = saved_copies(functions, place, saving, line_bytes, size)
            saving["tried"] = tried_again(trials, place, saving)
    return {
        "testbed": place.testbed,
        "working_set": place.working_set,
        "misses": [
            {"implementation": name, "msg_bytes": size, "level": level, **misses[level]}
            for name in values.implementations
            for size in values.sizes
            if (misses := values.misses.get((name, size))) is not None
            for level in LEVELS
        ],
        "savings": savings,
    }


def trials_of(places: Mapping[Place, Values]) -> list[Trial]:
    """Return every conclusion with every change that its cell was counted with."""
    found = []
    for place, unchanged in places.items():
        for variant in VARIANTS:
            changed = places.get(place._replace(variant=variant))
            if place.variant != PLAIN or variant == PLAIN or changed is None:
                continue
            for name in unchanged.implementations:
                sizes = set(changed.common_sizes(BASELINE, name))
                for size in unchanged.common_sizes(BASELINE, name):
                    if name != BASELINE and size in sizes:
                        both = [saved_at(values, name, size) for values in (unchanged, changed)]
                        keeps = level_of(both[0]) == level_of(both[1])
                        signs = [[change_of(saved[level]) for level in LEVELS] for saved in both]
                        survives = keeps and signs[0] == signs[1]
                        found.append(Trial(place, name, size, variant, keeps, survives))
    return found


def sensitivity_facts(trials: Sequence[Trial]) -> Facts:
    """Return how many conclusions survive which change."""
    return {
        # conclusions that were tried [count]
        "n": len({(one.place, one.implementation, one.msg_bytes) for one in trials}),
        "variants": [
            {
                "name": name,
                "change": VARIANTS[name].change,
                "n": len(tried),
                "n_keeping_level": sum(one.keeps_level for one in tried),
                "n_surviving": sum(one.survives for one in tried),
            }
            for name in VARIANTS
            if (tried := [one for one in trials if one.variant == name])
        ],
    }


def tried_again(trials: Sequence[Trial], place: Place, saving: Facts) -> Facts:
    """Return under how many changes the conclusion of a saving was tried: in its very cell.

    `n_holding` are the changes under which the same level still falls most, or where none falls,
    still the same levels rise. The saving has a level that changes; `n` is 0 where the cell was not
    counted again.
    """
    cell = (place, saving["implementation"], saving["most"]["msg_bytes"])
    tried = [one for one in trials if (one.place, one.implementation, one.msg_bytes) == cell]
    falls = saving["verdict"] == "falls"
    holding = [one.keeps_level if falls else one.survives for one in tried]
    return {"n": len(tried), "n_holding": sum(holding)}


def beside_facts(table: pd.DataFrame, functions: pd.DataFrame, summary: pd.DataFrame) -> Facts:
    """Return simulated counts beside measured ones, of the plain cells that have both."""
    rows = summary[
        (summary["study"] == "streams")
        & (summary["n_threads"] == 1)
        & (summary["receiver"] == RECV)
        & (summary["placement"] == APART)
        & (summary["n"] > 0)
    ].drop_duplicates([*_CELL, "metric"])
    medians = rows.set_index([*_CELL, "metric"])["median"].to_dict()

    def measured(row: Mapping[Hashable, Any], metric: str) -> float | None:
        return medians.get((*(row[name] for name in _CELL), metric))

    counted = table[
        (table["side"] == BOTH) & (table["variant"] == PLAIN) & (table["status"] == "measured")
    ].to_dict("records")
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
