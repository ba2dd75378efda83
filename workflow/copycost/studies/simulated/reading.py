"""The records of simulated cells are read; one that cannot be used costs itself alone."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from copycost.grid.cells import Cell
from copycost.grid.variants import PLAIN
from copycost.records.reading import REMEDY, Readable, read_all
from copycost.studies.simulated.record import SCHEMA_VERSION, SIMULATED_RECORD, SimulatedRecord


def read_cells(paths: Iterable[Path]) -> list[SimulatedRecord]:
    """Return the record of each path; see `read_all`."""
    return read_all(paths, lambda record: record, SIMULATED)


def machine_of(paths: Iterable[Path]) -> dict[str, Any] | None:
    """Return what counted the cells with nothing changed: `caches`, `guest` and `assumed`.

    None where none was counted.
    """
    return next((found for record in read_cells(paths) if (found := _machine(record))), None)


def _machine(record: SimulatedRecord) -> dict[str, Any] | None:
    if record["counted"] is None or record["cell"]["variant"] != PLAIN:
        return None
    machine = {name: record[name] for name in ("guest", "assumed")}
    return {"caches": record["counted"]["caches"], **machine}


def _state_of(record: SimulatedRecord) -> str | None:
    machine = _machine(record)
    return None if machine is None else json.dumps(machine, sort_keys=True)


def _lost(path: Path, reason: str, _like: SimulatedRecord | None) -> SimulatedRecord:
    cell = Cell.from_path(str(path))
    found: dict[str, Any] = dict.fromkeys(("guest", "assumed", "sender", "receiver", "counted"))
    found |= {"schema_version": SCHEMA_VERSION, "study": cell.study, "cell": cell.key}
    found |= {"status": "failed", "reason": reason, "remedy": REMEDY}
    return cast("SimulatedRecord", found | {"settings": {"messages": 1, "warmup_messages": 0}})


SIMULATED = Readable(SIMULATED_RECORD, _state_of, _lost)
"""Records of simulated cells."""
