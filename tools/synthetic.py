"""Records that were never measured, to see how long it takes to make tables of many.

They are copies of a real one with another key, other times and slightly different counts. They
go to a folder of their own and never into results.
"""

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path

from copycost.config.cells import Cell
from copycost.records.record import Record, check_record

_GAP_NS = 1_000_000
_SPREAD = 0.05


def synthetic_cells(n: int, n_repetitions: int = 10) -> Iterator[Cell]:
    """Yield `n` different repetitions: sizes in steps of 64 B, 1 to 8 threads, three strategies."""
    made = 0
    size = 0
    while True:
        size += 64
        for implementation in ("one_copy", "two_copy", "zero_copy"):
            for n_threads in (1, 2, 4, 8):
                for rep in range(1, n_repetitions + 1):
                    if made == n:
                        return
                    made += 1
                    yield Cell("streams", "veth", implementation, size, n_threads, rep=rep)


def write_synthetic_records(folder: Path, n: int, like: Record, seed: int = 1) -> list[Path]:
    """Write `n` records like a measured one below ``results/raw`` and return their paths.

    They pass the record schema and every check of the table: keys differ and times do not overlap.

    Raises
    ------
    DataError
        If `like` is no record.
    """
    check_record(like, "the record to be copied")
    rng = random.Random(seed)
    length_ns = like["end_ns"] - like["start_ns"]
    paths = []
    for index, cell in enumerate(synthetic_cells(n)):
        record = _vary(like, cell, rng)
        record["start_ns"] = like["start_ns"] + index * (length_ns + _GAP_NS)
        record["end_ns"] = record["start_ns"] + length_ns
        path = folder / cell.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record, indent=1), encoding="utf-8")
        paths.append(path)
    return paths


def _vary(like: Record, cell: Cell, rng: random.Random) -> Record:
    record = copy.deepcopy(like)
    record["cell"] = cell.key
    factor = 1 + rng.uniform(-_SPREAD, _SPREAD)
    driver = record["driver"] or {}
    for side in (driver.get("sender"), driver.get("receiver")):
        if side is not None:
            for part in ("in_window", "total"):
                counts = side[part]
                for name in counts.keys() & {"bytes", "first_half_bytes"}:
                    counts[name] = int(counts[name] * factor)
                if "messages" in counts:
                    counts["messages"] = counts["bytes"] // cell.msg_bytes
            side["threads"] = [side["threads"][0] | {"bytes": side["in_window"]["bytes"]}]
    return record
