"""Limits of this run."""

from tools.recompute.told import Expected, Slot, Told, says


@says("<n> repetitions of the <n> that compare implementations over sizes and threads carried")
def _warned(told: Told, *_: Slot) -> Expected:
    rows = told.rows
    return [int((rows["warned"] != "").sum()), len(rows)]


@says("Of <n> repetitions, <n> failed", "Of <n> repetitions, <n> failed and <n> were skipped")
def _failed(told: Told, *said: int) -> Expected:
    rows = told.run.streams
    if told.condition:
        rows = rows[rows["condition"] == told.condition]
    status = list(rows["status"])
    return [len(status), status.count("failed"), status.count("skipped")][: len(said)]
