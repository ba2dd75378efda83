"""The memory floor."""

from tools.recompute.told import Expected, Slot, Told, says


@says("was timed over working sets from <size> to <size>, source and destination together")
def _timed(told: Told, *_: Slot) -> Expected:
    points = told.run.memory["floor"]["points"]
    return [points[0]["bytes"], points[-1]["bytes"]]
