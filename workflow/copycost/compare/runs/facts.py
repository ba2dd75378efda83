"""Everything that the comparison of two sides says, as numbers and verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from copycost.analysis.json_values import Facts, plain
from copycost.compare.runs.environment_diff import differences, order_of, other_settings
from copycost.compare.runs.gates import Gate, gate_facts
from copycost.compare.runs.results import (
    CELL,
    QUANTITIES,
    Quantity,
    Results,
    cells_of,
    rows_of,
    section_of,
    shared_cells,
    sides_of,
)
from copycost.compare.runs.verdicts import (
    CONFIDENCE,
    MEASURED_SPREAD,
    Judgement,
    RunSpread,
    Verdict,
    judge,
    share_shown,
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
    rows_a, rows_b = rows_of(a), rows_of(b)
    shared = shared_cells(rows_a, rows_b)
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
    cells_a, cells_b = cells_of(rows_a), cells_of(rows_b)
    emulated = [
        compared & cells_of(rows[rows["accelerator"] == EMULATED]) for rows in (rows_a, rows_b)
    ]
    facts = {
        "schema_version": SCHEMA_VERSION,
        "confidence": CONFIDENCE,
        "sides": {"a": [_run_facts(run) for run in a], "b": [_run_facts(run) for run in b]},
        "unit": quantities[0]["unit"],
        "n_runs": [len(a), len(b)],
        "spread": asdict(spread) | {"given": stated is not None},
        "differs": [*differences(a, b), *other_settings(rows_a, rows_b)],
        "order": order_of(rows_a, rows_b),
        "n_shared": len(shared),
        "n_only_a": len(cells_a - cells_b),
        "n_only_b": len(cells_b - cells_a),
        # of those on one side alone, the emulator itself is what is compared
        "guests": {
            "n_emulated": len(emulated[0] & emulated[1]),
            "n_one_side": len(emulated[0] ^ emulated[1]),
        },
        "quantities": quantities,
        "gates": [gate_facts(gate, judged) for gate in gates],
    }
    found_facts: Facts = plain(facts)
    return found_facts


def _quantity_facts(quantity: Quantity, judgement: Judgement) -> Facts:
    def told(names: Sequence[str], verdicts: Mapping[Any, Verdict]) -> list[Facts]:
        return [
            dict(zip(names, key, strict=True)) | _verdict_facts(quantity, verdict)
            for key, verdict in verdicts.items()
        ]

    cells = told(CELL, judgement.cells)
    signs = [one["better"] for one in cells]
    verdicts = judgement.cells.values()
    halves = [share_shown(one.widened) for one in verdicts if one.found.has_interval]
    return {
        "name": quantity.name,
        "title": quantity.title,
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


def _verdict_facts(quantity: Quantity, verdict: Verdict) -> Facts:
    found = verdict.found
    low, high = found.interval(CONFIDENCE)
    open_or = "no difference seen" if found.has_interval else "observed once"
    return {
        "ratio": found.ratio,
        "low": low,
        "high": high,
        "p_value": found.p_value,
        "p_holm": verdict.p_holm,
        "sign": verdict.sign,
        "better": verdict.sign if quantity.more_is_better else -verdict.sign,
        "verdict": quantity.words[verdict.sign > 0] if verdict.sign else open_or,
        "n_a": verdict.n_a,
        "n_b": verdict.n_b,
    }


def _run_facts(run: Results) -> Facts:
    rows = run.repetitions
    rounds = rows.groupby(CELL)["rep"].count()
    identity = section_of(run.host, "identity")
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
