"""Compared with published runs."""

from tools.recompute.published import ratios
from tools.recompute.told import Expected, Slot, Told, says


def _ratios(told: Told, implementation: str) -> list[float]:
    return ratios(told.run, told.sentence.section.removeprefix("sec-published-"), implementation)


@says("<x> to <x> with <impl> (<n> cells)")
def _span(told: Told, _low: str, _high: str, implementation: str, _n: int) -> Expected:
    found = _ratios(told, implementation)
    return [min(found), max(found), None, len(found)]


@says("<x> with <impl> (<n> cell)")
def _single(told: Told, _x: str, implementation: str, _n: int) -> Expected:
    (found,) = _ratios(told, implementation)
    return [found, None, 1]


@says("Here a cell is the median of up to <n> repetitions of <time>")
def _repetitions(told: Told, *_: Slot) -> Expected:
    rows = told.run.streams[told.run.streams["status"] == "measured"]
    cells = rows.groupby(["condition", "implementation", "msg_bytes", "n_threads"])
    return [int(cells.size().max()), told.run.config["measure"]["duration_s"]]
