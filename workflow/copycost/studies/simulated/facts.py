"""Everything that the chapter on simulated counts says, as numbers and verdicts.

What each way to send saves in misses per line of payload against `two_copy`: at which level, where,
and why. Simulated counts stand beside what was measured, where both are there: a check of the
model. Nothing else joins the two. Measured misses are those of loads, so the simulated ones are
too.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from copycost.analysis.json_values import Facts, plain
from copycost.config.conditions import COLD, RECV
from copycost.config.simulation_variants import PLAIN
from copycost.config.testbeds import APART
from copycost.figures.markers import in_order
from copycost.studies.shared_facts import losses_of
from copycost.studies.simulated.reading import LEVELS
from copycost.studies.simulated.table import APPLICATION, BOTH, CELL_KEY, MODES

BASELINE = "two_copy"
LEAST = 0.05
"""Fewer misses per line than this are no difference: the edges of a window, and what lies next to
messages in memory, come to as much."""

_PLACE = ["testbed", "working_set"]
# what tells the cells with nothing changed from one another
_CELL = [*_PLACE, "implementation", "msg_bytes"]
# of a point of the figure
_POINT = ["implementation", "msg_bytes", "level", *MODES, "total"]
_TYPICAL_BYTES = 65536
# of what is saved at a level: whose copies carry less of it is not told
_LEAST_SHARE = 0.1
# of one miss per line: from here on a source or target was not found in a level
_MISSED = 0.5
# the category of the copies of a message, by whose they are
_COPIES = {"user": APPLICATION, "kernel": "copy"}

# metrics of the summary by the level whose misses they count
_MISSES = {"l1d": "l1d_load_misses_per_byte", "llc": "llc_load_misses_per_byte"}
_CALLS = "sender_syscalls_per_message"
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
    conditions = _conditions(table, functions, machine["caches"]) if machine else []
    savings = [saving for one in conditions for saving in one["savings"]]
    levels = [one["most"]["level"] for one in savings if one["verdict"] == "falls"]
    level = max(LEVELS, key=levels.count) if levels else None
    if machine is not None:
        # how the guest's kernel sets and copies memory: whether new pages are zeroed, and the
        # processor says that ``rep movsb`` is fast
        zeroes_pages = "init_on_alloc=1" in machine["guest"]["kernel_arguments"]
        repeats_bytes = "-erms" not in machine["guest"]["cpu"].split(",")
        machine = {**machine, "zeroes_pages": zeroes_pages, "repeats_bytes": repeats_bytes}
    facts = {
        "section": {"enabled": section["enabled"]},
        "n_counted": int((cells["status"] == "measured").sum()),
        "n_cells": len(cells),
        "losses": losses_of(cells, CELL_KEY),
        "machine": machine,
        "least": LEAST,
        "conditions": conditions,
        # the level whose misses fall most in most comparisons in which some level's do
        "verdict": {
            "n": len(savings),
            "n_falling": len(levels),
            "level": level,
            "n_level": levels.count(level),
        },
        "walks": walks,
        "beside": None,
    }
    return dict(plain(facts))


def _conditions(
    table: pd.DataFrame, functions: pd.DataFrame, caches: Mapping[str, Any]
) -> list[Facts]:
    """Return misses and savings in each place where cells were counted with nothing changed."""
    misses, copied = misses_of(table), copied_shares(table)
    found = []
    for (testbed, working_set), here in misses.groupby(_PLACE, sort=False):
        unchanged = _where(here, variant=PLAIN).sort_values("msg_bytes", kind="stable")
        index = ["variant", "msg_bytes"]
        ways = {
            name: rows.pivot(index=index, columns="level", values="total")
            for name, rows in here.groupby("implementation")
        }
        at = _where(functions, testbed=testbed, working_set=working_set)
        points, savings = [], []
        for name in in_order(unchanged["implementation"]):
            rows = unchanged.loc[unchanged["implementation"] == name, _POINT]
            points += rows.to_dict("records")
            compared = name != BASELINE and BASELINE in ways
            if compared and (saving := saving_of(ways[BASELINE], ways[name])):
                if most := saving["most"]:
                    most["copies"] = _copies(at, name, most, caches)
                asked = (str(testbed), name)
                told = {"asks_for_none": asked in copied, "copied_share": copied.get(asked)}
                savings.append({"implementation": name, **saving, **told})
        if points:
            place = {"testbed": testbed, "working_set": working_set}
            found.append({**place, "misses": points, "savings": savings})
    return found


def _where(table: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Return the rows of a table that have these values."""
    return table[(table[[*values]] == [*values.values()]).all(axis=1)]


def misses_of(table: pd.DataFrame) -> pd.DataFrame:
    """Return misses per line of payload, of both sides, a row per cell and level.

    In ``user`` and ``kernel`` mode, and in ``total``.
    """
    counted = _where(table, status="measured", side=BOTH)
    levels = []
    for level in LEVELS:
        names = {f"simulated_{level}_misses_{mode}_per_byte": mode for mode in MODES}
        per_line = counted[[*names]].mul(counted["simulated_line_bytes"], axis=0)
        rows = counted[list(CELL_KEY)].assign(level=level).join(per_line.rename(columns=names))
        levels.append(rows.assign(total=rows["user"] + rows["kernel"]))
    return pd.concat(levels, ignore_index=True)


def saving_of(before: pd.DataFrame, after: pd.DataFrame) -> Facts | None:
    """Return what one way to send saves in a place; None where it was not counted without changes.

    By misses per line, of `two_copy` and of it, by variant and size, a column per level. The
    verdict is ``falls`` if some level's misses fall at some size, ``rises`` if some rise and
    none falls, or ``same``. `most` is the level whose misses fall most (or, where none fall, rise
    most) and the size where they do, of equal ones the one next to 64 KiB; None where nothing
    changes. `tried` is how many changes that conclusion was tried with, in its very cell, and under
    how many the same level still falls most, or where none falls, still the same levels rise.
    """
    saved = (before - after).dropna().reset_index()
    unchanged = saved[saved["variant"] == PLAIN].set_index("msg_bytes")[list(LEVELS)]
    if unchanged.empty:
        return None
    falls = bool((unchanged >= LEAST).any(axis=None))
    if not falls and not (unchanged <= -LEAST).any(axis=None):
        return {"verdict": "same", "most": None, "tried": None}
    gains = unchanged if falls else -unchanged
    most = gains.max(axis=1)
    largest = most[most > most.max() - LEAST].index
    # next to 64 KiB a byte's cost is more than a share of the call's
    size = min(largest, key=lambda size: (abs(size - _TYPICAL_BYTES), size))
    level = level_of(gains.loc[size].to_dict())
    concluded = {
        row["variant"]: (level_of(row), falls or [row[name] <= -LEAST for name in LEVELS])
        for row in saved[saved["msg_bytes"] == size].to_dict("records")
    }
    usual = concluded.pop(PLAIN)
    return {
        "verdict": "falls" if falls else "rises",
        "most": {
            "level": level,
            "msg_bytes": size,
            "before": before.loc[(PLAIN, size)].to_dict()[level],
            "saved": unchanged.loc[size].to_dict()[level],
        },
        "tried": {"n": len(concluded), "n_holding": [*concluded.values()].count(usual)},
    }


def level_of(saved: Mapping[Any, float]) -> str | None:
    """Return the level with the largest fall, None where none falls; of equal ones the first.

    What misses a level has missed those before it: how deep a fall goes is another question.
    """
    falls = [level for level in LEVELS if saved[level] >= LEAST]
    largest = max((saved[level] for level in falls), default=0.0)
    return next((level for level in falls if saved[level] > largest - LEAST), None)


def _copies(
    functions: pd.DataFrame, implementation: str, most: Facts, caches: Mapping[str, Any]
) -> dict[str, Facts | None]:
    """Return what the level that changes most misses of the copies that are saved in a place.

    By whose copies they are, ``user`` or ``kernel``: whether source, target or both are not in the
    level, and why; None where their misses are not a tenth of what is saved. A copy loads its
    source and stores its target, so misses of loads are those of the one, and misses of stores
    those of the other, per line of either. The kernel's source is what the application has just
    written, in no case a cold message.
    """
    size = most["msg_bytes"]
    here = _where(functions, variant=PLAIN, msg_bytes=size)
    here = here[here["side"] != "other"]
    cache_bytes = caches[most["level"]]["size_bytes"]
    columns = [f"simulated_{most['level']}_{kind}_per_byte" for kind in ("misses", "load_misses")]
    sums = here.groupby(["mode", "category", "implementation"])[columns].sum()
    sums *= caches["line_bytes"]
    found: dict[str, Facts | None] = {}
    for mode, category in _COPIES.items():
        ways = [(mode, category, name) for name in (BASELINE, implementation)]
        before, after = sums.reindex(ways, fill_value=0.0).to_numpy()
        saved, source = before - after
        found[mode] = None
        if saved < _LEAST_SHARE * abs(most["saved"]):
            continue
        of = {"source": source, "target": saved - source}
        missed = [name for name, n in of.items() if n >= _MISSED]
        cold = mode == "user" and "source" in missed and (here["working_set"] == COLD).all()
        reasons = ["from_memory"] if cold else []
        if "target" in missed or (missed and not cold):
            # source and target would fit into the level together, or do not
            reasons.append("displaced" if 2 * size <= cache_bytes else "beyond")
        found[mode] = {
            "misses": "both" if len(missed) > 1 else missed[0] if missed else "neither",
            "reasons": reasons,
            "size_bytes": cache_bytes,  # of the level
        }
    return found


def copied_shares(table: pd.DataFrame) -> dict[tuple[str, str], float | None]:
    """Return, by testbed and way to send, what the kernel copied after all of what it was to send.

    Only of ways that ask for no copy: of the sends that were reported as done in the windows of all
    cells with nothing changed, those that the kernel had copied; None where none was, or the kernel
    does not tell.
    """
    columns = ["simulated_zc_copied", "simulated_zc_completed"]
    sides = _where(table, side="sender", variant=PLAIN)
    sends = sides[sides["simulated_zc_completed"].notna()].groupby(["testbed", "implementation"])
    copied, completed = (sends[name].agg(lambda n: n.sum(skipna=False)) for name in columns)
    share = (copied / completed).astype(object)
    return dict(share.where(share.notna(), None))


def beside_facts(table: pd.DataFrame, functions: pd.DataFrame, summary: pd.DataFrame) -> Facts:
    """Return simulated counts beside measured ones, of the plain cells that have both.

    `misses` is, per level that this host counts, the ratio of the simulated misses of loads to the
    counted ones, in `n` cells; `n_calls` cells have the sender's system calls per message, and in
    `n_calls_agree` of them they agree within 2 %.
    """
    rows = _where(summary, study="streams", n_threads=1, receiver=RECV, placement=APART)
    rows = rows[rows["n"] > 0].drop_duplicates([*_CELL, "metric"])
    sided = [f"{side}_{metric}" for side in ("sender", "both") for metric in _MISSES.values()]
    measured = rows.pivot(index=_CELL, columns="metric", values="median")
    measured = measured.reindex(columns=[_CALLS, *sided])
    both = _where(table, status="measured", side=BOTH, variant=PLAIN)
    counted = both.join(measured, on=_CELL)
    misses = []
    for level, metric in _MISSES.items():
        loads = sum(counted[f"simulated_{level}_load_misses_{mode}_per_byte"] for mode in MODES)
        on_sink = counted["testbed"] == "sink"
        known = counted[f"sender_{metric}"].where(on_sink, counted[f"both_{metric}"])
        ratios = (loads / known)[known > 0.0]
        if len(ratios):
            of = {"low": float(ratios.min()), "high": float(ratios.max())}
            misses.append({"level": level, "n": len(ratios), **of})
    entered = _where(functions, variant=PLAIN, side="sender", function=_SYSTEM_CALL)
    entered = entered.join(measured[_CALLS], on=_CELL).dropna(subset=[_CALLS])
    differ = (entered["simulated_calls_per_message"] - entered[_CALLS]).abs()
    return {
        "misses": misses,
        "n_calls": len(entered),
        "n_calls_agree": int((differ <= _CALLS_DIFFER * entered[_CALLS]).sum()),
    }
