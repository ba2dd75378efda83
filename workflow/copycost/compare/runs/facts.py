"""Everything that the comparison of two sides says, as numbers and verdicts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.json_values import Facts, plain
from copycost.compare.runs.environment_diff import differences, order_of
from copycost.compare.runs.folders import Results
from copycost.compare.runs.samples import (
    CELL,
    QUANTITIES,
    Quantity,
    cells_of,
    shared_cells,
    sides_of,
)
from copycost.compare.runs.verdicts import (
    CONFIDENCE,
    MEASURED_SPREAD,
    Gate,
    Judgement,
    RunSpread,
    Verdict,
    judge,
    spread_of_runs,
)
from copycost.errors import DataError
from copycost.records.cpu_attribution import EMULATED

SCHEMA_VERSION = 2
CELL_COLUMNS = (
    "quantity", *CELL, "n_a", "n_b", "ratio", "low", "high", "p_value", "p_holm", "verdict",
)  # fmt: skip
"""Columns of cells.csv: `ratio` is B over A, of geometric means, with its interval; `n_a` and `n_b`
are the runs, or rounds, behind it; `p_holm` is corrected for the cells of the same quantity, and
`verdict` rests on that."""

_SAME = (
    "what both have are the same repetitions, as of a copy; measure again into a folder of its own,"
    " and compare with that"
)
_NOTHING_COMMON = (
    "no cell is common to all of their runs (condition, implementation, size and threads); measure"
    " both with the same streams, udp or round_trips in config.yaml"
)
_VAGUE = 20.0
"""A factor between the ends of an interval by which it says that no difference could be seen."""


def compare_runs(
    a: Sequence[Results],
    b: Sequence[Results],
    stated: RunSpread | None = None,
    gates: Sequence[Gate] = (),
) -> Facts:
    """Compare two sides, of at least one run each, in all cells that all of their runs have.

    The user may have `stated` what single runs of the same thing differ by, instead of what was
    measured once. Returned is what report and terminal say.
    """
    spread = stated or MEASURED_SPREAD
    quantities: list[Facts] = []
    judged: dict[str, Judgement] = {}
    shared = shared_cells(a, b)
    for quantity in QUANTITIES:
        sides = sides_of(a, b, quantity, shared)
        if sides.cells:
            judged[quantity.name] = judgement = judge(sides, spread)
            found = spread_of_runs(sides)
            spreads = {"spread_of_runs": found and asdict(found)}
            quantities.append(_quantity_facts(quantity, judgement) | spreads)
    if not quantities:
        raise DataError(f"{a[0].folder} and {b[0].folder}: {_SAME if shared else _NOTHING_COMMON}")
    compared = {cell for found in judged.values() for cell in found.cells}
    rows = [pd.concat([run.repetitions for run in runs]) for runs in (a, b)]
    cells_a, cells_b = map(cells_of, rows)
    emulated = [compared & cells_of(of[of["accelerator"] == EMULATED]) for of in rows]
    facts = {
        "schema_version": SCHEMA_VERSION,
        "confidence": CONFIDENCE,
        "sides": {"a": [_run_facts(run) for run in a], "b": [_run_facts(run) for run in b]},
        "unit": quantities[0]["unit"],
        "n_runs": [len(a), len(b)],
        "spread": asdict(spread) | {"given": stated is not None},
        "differs": differences(a, b),
        "order": order_of(a, b),
        "n_shared": len(shared),
        "n_only_a": len(cells_a - cells_b),
        "n_only_b": len(cells_b - cells_a),
        # of those on one side alone, the emulator itself is what is compared
        "guests": {
            "n_emulated": len(emulated[0] & emulated[1]),
            "n_one_side": len(emulated[0] ^ emulated[1]),
        },
        "quantities": quantities,
        "gates": [_gate_facts(gate, judged) for gate in gates],
    }
    found_facts: Facts = plain(facts)
    return found_facts


def cells_table(facts: Facts) -> pd.DataFrame:
    """Return the common cells of all quantities: `CELL_COLUMNS`."""
    rows = [
        {"quantity": quantity["name"]} | cell
        for quantity in facts["quantities"]
        for cell in quantity["cells"]
    ]
    return pd.DataFrame(rows, columns=list(CELL_COLUMNS))


def _quantity_facts(quantity: Quantity, judgement: Judgement) -> Facts:
    def told(names: Sequence[str], verdicts: Mapping[Any, Verdict]) -> list[Facts]:
        return [
            dict(zip(names, key, strict=True)) | _verdict_facts(quantity, verdict)
            for key, verdict in verdicts.items()
        ]

    cells = told(CELL, judgement.cells)
    signs = [one["better"] for one in cells]
    verdicts = judgement.cells.values()
    halves = [_share_shown(one.widened) for one in verdicts if one.found.has_interval]
    return {
        "name": quantity.name,
        "unit": judgement.unit,
        "n_cells": len(cells),
        "n_better": signs.count(1),
        "n_worse": signs.count(-1),
        "contradicts": judgement.contradicts,
        "whole": _verdict_facts(quantity, judgement.whole),
        "ways": told(("condition", "implementation"), judgement.ways),
        "sizes": told(("msg_bytes",), judgement.sizes),
        "cells": cells,
        "half_width": float(np.median(halves)) if halves else None,
    }


def _share_shown(ends: tuple[float, float]) -> float:
    """Return by which share a ratio must be above 1 to be shown by an interval as wide as this.

    Infinite where that is no interval to a reader.
    """
    low, high = ends
    return math.sqrt(high / low) - 1.0 if low > 0.0 and high / low <= _VAGUE else math.inf


def _verdict_facts(quantity: Quantity, verdict: Verdict) -> Facts:
    low, high = verdict.found.interval(CONFIDENCE)
    better = verdict.sign if quantity.more_is_better else -verdict.sign
    lower, higher = quantity.words
    word = {-1: lower, 0: "no difference seen", 1: higher}[verdict.sign]
    return {
        "ratio": verdict.found.ratio,
        "low": low,
        "high": high,
        "p_value": verdict.found.p_value,
        "p_holm": verdict.p_holm,
        "sign": verdict.sign,
        "better": better,
        "verdict": word if verdict.found.has_interval else "observed once",
        "n_a": verdict.n_a,
        "n_b": verdict.n_b,
    }


def _run_facts(run: Results) -> Facts:
    rows = run.repetitions
    rounds = rows.groupby(CELL)["rep"].count()
    identity = run.host.get("identity", {})
    commits = sorted(rows["commit"].dropna().astype(str).unique())
    return {
        "folder": str(run.folder),
        "commit": commits[0] if len(commits) == 1 else None,
        "kernel": str(identity.get("kernel_release") or "unknown"),
        "processor": str(identity.get("cpu_model") or "unknown processor"),
        "started_at": str(rows["started_at"].min()),
        "n_cells": len(rounds),
        "n_repetitions": len(rows),
        "n_warned": int((rows["warnings"].fillna("") != "").sum()),
        "rounds_min": int(rounds.min()),
        "rounds_max": int(rounds.max()),
    }


def _gate_facts(gate: Gate, judged: dict[str, Judgement]) -> Facts:
    """Return what a gate finds; DataError if it could never find anything."""
    judgement = judged.get(gate.quantity)
    asked = f"--fail-if {gate.word}:{gate.percent:g}%"
    if judgement is None:
        raise DataError(
            f"{asked}: the sides have no cell in common that tells it; measure both with the same "
            f"{'round_trips' if gate.quantity == 'round_trip' else 'streams or udp'}"
        )
    if not any(verdict.found.has_interval for verdict in judgement.cells.values()):
        raise DataError(
            f"{asked}: one round of one run has no interval, so nothing could ever be shown; "
            "measure at least two (measure.repetitions), or compare several runs"
        )
    cells = gate.failing_cells(judgement)
    whole = gate.fails_whole(judgement)
    fails = bool(cells) or whole
    # Where cells contradict each other, their mean can fail nothing: it rests on each of them.
    ends = [judgement.whole.found.interval(CONFIDENCE)]
    if judgement.contradicts:
        ends = [one.widened for one in judgement.cells.values() if one.found.has_interval]
    smallest = gate.smallest(max(map(_share_shown, ends)))
    return {
        "word": gate.word,
        "percent": gate.percent,
        "cells": [dict(zip(CELL, cell, strict=True)) for cell in cells],
        "whole": whole,
        "contradicts": judgement.contradicts,
        "fails": fails,
        "smallest_percent": smallest if math.isfinite(smallest) else None,
        "cannot_tell": not fails
        and smallest > gate.percent
        and not all(gate.is_ruled_out(*one) for one in ends),
    }
