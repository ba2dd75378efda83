"""The records of simulated cells are read; one that cannot be used costs itself alone."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from copycost.config.cells import Cell
from copycost.config.checkout import SCHEMAS
from copycost.config.simulation_variants import PLAIN
from copycost.records.json_schema import RecordKind
from copycost.records.reading import REMEDY, Readable, read_all

SimulatedRecord = dict[str, Any]
"""One cell; `simulated.schema.yaml` describes each key with its unit.

From `guest` on they are None unless `status` is measured, and `receiver` where nobody receives.
There are no times in it, so that two runs write the same file.
"""

SCHEMA_VERSION = 2
LEVELS = ("l1d", "l2", "llc")
"""The simulated caches, innermost first."""

_KIND: RecordKind[SimulatedRecord] = RecordKind(
    SCHEMAS / "simulated.schema.yaml", "simulated counts"
)


def machine_of(paths: Iterable[Path]) -> dict[str, Any] | None:
    """Return what counted the cells with nothing changed: `caches`, `guest` and `assumed`.

    None where none was counted.
    """
    return next(filter(None, read_all(paths, _machine, SIMULATED)), None)


def _machine(record: SimulatedRecord) -> dict[str, Any] | None:
    if record["counted"] is None or record["cell"]["variant"] != PLAIN:
        return None
    machine = {name: record[name] for name in ("guest", "assumed")}
    return {"caches": record["counted"]["caches"], **machine}


def _state_of(record: SimulatedRecord) -> str | None:
    machine = _machine(record)
    return json.dumps(machine, sort_keys=True) if machine else None


def without_counts(
    cell: Cell, outcome: Mapping[str, str | None], messages: int = 1, warmup_messages: int = 0
) -> SimulatedRecord:
    """Return the record of a cell that is not counted: with its status, reason and remedy."""
    return {
        "schema_version": SCHEMA_VERSION,
        "study": cell.study,
        "cell": cell.key,
        "settings": {"messages": messages, "warmup_messages": warmup_messages},
        **dict.fromkeys(("guest", "assumed", "sender", "receiver", "counted")),
        **outcome,
    }


def _lost(path: Path, reason: str, _like: SimulatedRecord | None) -> SimulatedRecord:
    outcome = {"status": "failed", "reason": reason, "remedy": REMEDY}
    return without_counts(Cell.from_path(str(path)), outcome)


SIMULATED = Readable(_KIND, _state_of, _lost)
"""Records of simulated cells."""
