"""Limits of this run."""

from tools.recompute.told import Expected, Slot, Told, says


@says("<n> repetitions of the <n> that compare implementations over sizes and threads carried")
def _warned(told: Told, *_: Slot) -> Expected:
    rows = told.rows
    return [int((rows["warned"] != "").sum()), len(rows)]


def _status(told: Told) -> list[str]:
    rows = told.run.streams
    if told.condition:
        rows = rows[rows["condition"] == told.condition]
    return list(rows["status"])


@says(
    "of <n> repetitions, <n> failed",
    "of <n> repetitions, <n> failed and <n> was skipped",
    "of <n> repetitions, <n> failed and <n> were skipped",
)
def _failed(told: Told, *said: int) -> Expected:
    status = _status(told)
    return [len(status), status.count("failed"), status.count("skipped")][: len(said)]


@says("of <n> repetitions, <n> was skipped", "of <n> repetitions, <n> were skipped")
def _skipped(told: Told, *_: Slot) -> Expected:
    status = _status(told)
    return [len(status), status.count("skipped")]
