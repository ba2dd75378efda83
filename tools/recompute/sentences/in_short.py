"""The first page in short."""

from tools.recompute.sentences.analysis_along_sizes import common_turn
from tools.recompute.sentences.analysis_pair import pooled_throughput
from tools.recompute.told import Expected, Slot, Told, says, with_sign


@says("messages of <span> were sent over TCP", "UDP datagrams of <span> were sent")
def _scene_in_short(told: Told, *_: Slot) -> Expected:
    sizes = told.run.sizes(told.condition)
    return [(sizes[0], sizes[-1])]


@says("No such difference stands after correction for the number of cells")
def _none_stands(told: Told) -> Expected:
    assert told.run.corrected(told.cells) == 0, "some do"
    return []


@says(
    "<n> of <n> such differences stand after correction",
    "<n> of <n> such differences stands after correction",
    "<n> of <n> such difference stands after correction",
)
def _some_stand(told: Told, *_: Slot) -> Expected:
    cells = told.cells
    return [told.run.corrected(cells), len(cells) - len(with_sign(cells, 0))]


@says("<impl> was faster than <impl> **<at>** and slower <at>")
def _common_turn_in_short(told: Told, a: str, b: str, *_: Slot) -> Expected:
    return common_turn(told, a, b)[:-1]


@says("Over the cells together, it had <x> times the throughput <i>")
def _pooled_in_short(told: Told, *_: Slot) -> Expected:
    return pooled_throughput(told)


@says("Of the <n> repetitions behind this, <n> carried a warning")
def _behind_this(told: Told, *_: Slot) -> Expected:
    rows = told.run.streams[told.run.streams["status"] == "measured"]
    return [len(rows), int((rows["warned"] != "").sum())]
