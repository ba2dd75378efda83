"""The kernel's word on zero-copy sends."""

from tools.recompute.told import Expected, Told, says


@says(
    "marked <p> of the completions as copied", "marked <p> of the zero-copy completions as copied"
)
@says("here <p> of the completions were copied", "*zero-copy requested, <p> copied*")
@says("The kernel copied <p> of what `zero_copy` sent")
def _copied(told: Told, _p: str) -> Expected:
    rows = told.run.measured(told.condition) if told.condition else told.run.streams
    return [rows["zc_copied"].sum() / rows["zc_completed"].sum()]
