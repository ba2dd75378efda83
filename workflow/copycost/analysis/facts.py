"""Everything that the text says, as data: `results/facts.json`."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.analysis.context import (
    cost_facts,
    counter_facts,
    grid_facts,
    method_facts,
    run_facts,
)
from copycost.analysis.metrics import choose_cost_metric
from copycost.analysis.missing import missing_facts
from copycost.analysis.plain import Facts, plain
from copycost.analysis.questions import answer_questions
from copycost.analysis.view import View
from copycost.stats.settings import StatisticsSettings

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the facts are computed from.

    Attributes
    ----------
    cells, summary, ratios
        The tables.
    host
        Content of results/host.json.
    config
        The configuration in the words of config.yaml, sizes in bytes.
    """

    cells: pd.DataFrame
    summary: pd.DataFrame
    ratios: pd.DataFrame
    host: dict[str, Any]
    config: dict[str, Any]


def compute_facts(inputs: Inputs) -> Facts:
    """Return all facts as plain JSON values: SI units, None for what is missing.

    Keys
    ----
    run, host, method, grid, counters, cost
        What was measured, where and how; see `copycost.analysis.context`.
    testbeds
        Per testbed, in the order of the config: status, skipped, failed, best, crossovers,
        questions (q1 to q6), summary.
    """
    cost = choose_cost_metric(inputs.cells)
    testbeds = {
        name: _testbed_facts(view_of(inputs, name)) for name in inputs.config["streams"]["testbeds"]
    }
    facts = {
        "schema_version": SCHEMA_VERSION,
        "study": "streams",
        "config": inputs.config,
        "run": run_facts(inputs.cells),
        "host": {key: value for key, value in inputs.host.items() if key != "schema_version"},
        "method": method_facts(inputs.cells, inputs.config),
        "grid": grid_facts(inputs.config),
        "counters": counter_facts(inputs.cells, inputs.host),
        "cost": cost_facts(cost),
        "testbeds": testbeds,
        "measured_testbeds": [name for name, facts in testbeds.items() if facts["n_measured"]],
    }
    result: Facts = plain(facts)
    return result


def view_of(inputs: Inputs, testbed: str) -> View:
    """Return one testbed's part of the inputs."""
    grid = grid_facts(inputs.config)
    statistics = inputs.config["statistics"]
    cells, summary, ratios = inputs.cells, inputs.summary, inputs.ratios
    return View(
        testbed=testbed,
        rows=cells[cells["testbed"] == testbed],
        summary=summary[summary["testbed"] == testbed],
        ratios=ratios[ratios["testbed"] == testbed],
        implementations=tuple(grid["implementations"]),
        msg_bytes=tuple(grid["msg_bytes"]),
        n_threads=tuple(grid["n_threads"]),
        repetitions=int(inputs.config["measure"]["repetitions"]),
        settings=StatisticsSettings(**statistics),
        cost=choose_cost_metric(cells),
        caches=dict(inputs.host.get("cpu", {}).get("caches", {})),
    )


def write_facts(facts: Facts, path: Path) -> None:
    """Write the facts; the same facts give the same bytes."""
    text = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _testbed_facts(view: View) -> Facts:
    status = view.rows["status"]
    facts: Facts = {
        "name": view.testbed,
        "measured": [name for name in view.implementations if view.has(name)],
        "n_repetitions": len(view.rows),
        "n_measured": int((status == "measured").sum()),
        "n_failed": int((status == "failed").sum()),
        "n_skipped": int((status == "skipped").sum()),
        "skipped": missing_facts(view.rows, "skipped"),
        "failed": missing_facts(view.rows, "failed"),
        "isolation": _only(view.measured["isolation"]),
        "mtu_bytes": _only(view.measured["mtu_bytes"]),
        "offloads": {
            name: _only(view.measured[f"offload_{name}"]) for name in ("tso", "gso", "gro")
        },
    }
    return facts | answer_questions(view)


def _only(column: pd.Series) -> object:
    """Return the one value of a column that should not vary within a testbed, else None."""
    values = [value for value in column.dropna().unique() if value != ""]
    return values[0] if len(values) == 1 else None
