"""Everything that the chapter on simulated counts says, as numbers and verdicts."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from copycost.analysis.json_values import Facts, plain
from copycost.grid.conditions import COLD, HOT
from copycost.grid.variants import PLAIN
from copycost.studies.outcomes import losses_of
from copycost.studies.profile.functions import Categories
from copycost.studies.simulated.columns import CELL_KEY
from copycost.studies.simulated.copies import copy_facts, saved_copies
from copycost.studies.simulated.counts import LEVELS, MODES, title_of
from copycost.studies.simulated.instructions import instructions_facts, zero_copy_prices
from copycost.studies.simulated.savings import LEAST, function_changes, nearest, saving_of
from copycost.studies.simulated.sensitivity import sensitivity_facts, tried_again
from copycost.studies.simulated.values import (
    BASELINE,
    Misses,
    Place,
    Values,
    total,
    values_by_place,
)


def compute_facts(
    table: pd.DataFrame,
    functions: pd.DataFrame,
    section: Mapping[str, Any],
    machine: Mapping[str, Any] | None,
    categories: Categories,
    walks: Mapping[str, Any],
) -> Facts:
    """Return the facts.

    Parameters
    ----------
    table, functions : DataFrame
        As `copycost.studies.simulated.columns` defines them.
    section
        The section `simulated` of the configuration.
    machine
        What counted, as of `machine_of`; None where nothing was counted.
    categories
        What functions do.
    walks
        What `walk_facts` or `no_walks` says of walks with known misses.
    """
    places = values_by_place(table)
    cells = table.drop_duplicates(list(CELL_KEY))
    line_bytes = machine["caches"]["line_bytes"] if machine else 0
    sensitivity = sensitivity_facts(places)
    instructions = instructions_facts(table)
    conditions = [
        _condition(values, functions, machine["caches"], categories, sensitivity)
        for place, values in places.items()
        if place.variant == PLAIN and machine
    ]
    facts = {
        "section": {name: section[name] for name in ("implementations", "enabled", "window_bytes")},
        "n_counted": int((cells["status"] == "measured").sum()),
        "n_cells": len(cells),
        "losses": losses_of(cells, CELL_KEY),
        "machine": machine and {**machine, **_ways_of(machine["guest"])},
        "line_bytes": line_bytes,
        "least": LEAST,
        "conditions": conditions,
        "n_falling": sum(one["verdict"] == "falls" for c in conditions for one in c["savings"]),
        "instructions": instructions,
        "zero_copy_prices": zero_copy_prices(instructions),
        "cold": _cold(places),
        "zero_copies": zero_copies(table),
        "sensitivity": sensitivity | _reported(conditions),
        "categories": _categories(functions, line_bytes, categories),
        "walks": walks,
        "beside": None,
    }
    return dict(plain(facts))


def _ways_of(guest: Mapping[str, Any]) -> Facts:
    """Return what of a guest decides how its kernel sets and copies memory.

    Keys
    ----
    zeroes_pages
        Whether new pages are zeroed.
    repeats_bytes
        Whether the processor says that ``rep movsb`` is fast, so that the kernel copies by it.
    """
    return {
        "zeroes_pages": "init_on_alloc=1" in guest["kernel_arguments"],
        "repeats_bytes": "-erms" not in guest["cpu"].split(","),
    }


def zero_copies(table: pd.DataFrame) -> list[Facts]:
    """Return whether the kernel copied after all what was to be sent without a copy.

    Keys
    ----
    testbed, implementation
        Where, and with which way to send; only those that ask for no copy.
    copied_share
        Of the sends that were reported as done in the windows of all cells with nothing changed,
        those that the kernel had copied; None where none was, or the kernel does not tell.

    Parameters
    ----------
    table : DataFrame
        As `copycost.studies.simulated.columns` defines it.
    """
    sides = table[(table["side"] == "sender") & (table["variant"] == PLAIN)]
    rows = sides[sides["simulated_zc_completed"].notna()]
    return [
        {
            "testbed": testbed,
            "implementation": implementation,
            "copied_share": _share(part["simulated_zc_copied"], part["simulated_zc_completed"]),
        }
        for (testbed, implementation), part in rows.groupby(
            ["testbed", "implementation"], sort=False
        )
    ]


def _share(part: "pd.Series[float]", whole: "pd.Series[float]") -> float | None:
    n = float(whole.sum())
    return None if part.isna().any() or not n else float(part.sum()) / n


def _condition(
    values: Values,
    functions: pd.DataFrame,
    caches: Mapping[str, Any],
    categories: Categories,
    sensitivity: Facts,
) -> Facts:
    sizes = {level: caches[level]["size_bytes"] for level in LEVELS}
    savings = [
        saving
        for name in values.implementations
        if name != BASELINE and (saving := saving_of(values, name)) is not None
    ]
    line_bytes = caches["line_bytes"]
    for saving in savings:
        saving["functions"], saving["tried"] = [], None
        if not saving["most"]:
            continue
        saving["functions"] = function_changes(functions, values.place, saving, line_bytes)
        for row in saving["functions"]:
            row["title"] = title_of(row["category"], categories) if row["category"] else None
        saving["most"]["copies"] = saved_copies(
            functions, values.place, saving, line_bytes, sizes[saving["most"]["level"]]
        )
        saving["tried"] = tried_again(sensitivity, values.place, saving)
    return {
        "testbed": values.place.testbed,
        "working_set": values.place.working_set,
        "implementations": values.implementations,
        "sizes": values.sizes,
        "misses": _misses(values),
        "savings": savings,
        "own_copy": copy_facts(values, sizes),
    }


def _reported(conditions: Sequence[Facts]) -> Facts:
    """Return how many conclusions are told of what changes most, and were tried again [count]."""
    tried = [one["tried"] for c in conditions for one in c["savings"] if one["tried"]]
    return {"n_reported": len(tried), "n_reported_tried": sum(one["n"] > 0 for one in tried)}


def _misses(values: Values) -> list[Facts]:
    return [
        {"implementation": name, "msg_bytes": size, "level": level, **misses[level],
         "total": total(misses, level)}
        for name in values.implementations
        for size in values.sizes
        if (misses := values.of(name, size)) is not None
        for level in LEVELS
    ]  # fmt: skip


def _cold(places: Mapping[Place, Values]) -> list[Facts]:
    """Return what changes from hot to cold, per testbed, at the size nearest to 64 KiB."""
    found = []
    for place, hot in places.items():
        cold = places.get(place._replace(working_set=COLD))
        if place.working_set != HOT or place.variant != PLAIN or cold is None:
            continue
        names = [name for name in hot.implementations if name in cold.implementations]
        sizes = [size for size in hot.common_sizes(*names) if size in cold.common_sizes(*names)]
        if not sizes:
            continue
        size = nearest(sizes)
        found.append(
            {
                "testbed": place.testbed,
                "msg_bytes": size,
                "rows": [
                    _payer(name, hot.misses[name, size], cold.misses[name, size]) for name in names
                ],
            }
        )
    return found


def _payer(implementation: str, hot: Misses, cold: Misses) -> Facts:
    """Return whose misses of the last level rise with a cold message, and by how many per line."""
    more = {mode: cold["llc"][mode] - hot["llc"][mode] for mode in MODES}
    paying = [mode for mode in MODES if more[mode] >= LEAST]
    return {
        "implementation": implementation,
        "payer": "both" if len(paying) > 1 else paying[0] if paying else "nobody",
        **{f"more_{mode}": more[mode] for mode in MODES},
    }


def _categories(functions: pd.DataFrame, line_bytes: int, categories: Categories) -> list[Facts]:
    """Return misses per line by category, of every plain cell at its place's typical size."""
    rows = functions[(functions["variant"] == PLAIN) & (functions["side"] != "other")]
    found = []
    levels = [f"simulated_{level}_misses_per_byte" for level in LEVELS]
    for (testbed, working_set), part in rows.groupby(["testbed", "working_set"], sort=False):
        size = nearest(sorted(int(one) for one in part["msg_bytes"].unique()))
        here = part[part["msg_bytes"] == size]
        sums = here.groupby(["implementation", "category"], sort=False, as_index=False)[
            levels
        ].sum()
        for row in sums.to_dict("records"):
            found.append(
                {
                    "testbed": testbed,
                    "working_set": working_set,
                    "msg_bytes": size,
                    "implementation": row["implementation"],
                    "title": title_of(str(row["category"]), categories),
                    **{
                        level: float(row[name]) * line_bytes
                        for level, name in zip(LEVELS, levels, strict=True)
                    },
                }
            )
    return found
