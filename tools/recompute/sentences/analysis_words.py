"""How sure the comparisons of a question are."""

from tools.recompute.told import Expected, Slot, Told, says


@says(
    "<n> comparisons with <impl>, each over <n> rounds paired",
    "<n> comparisons with <impl>, each over <n> to <n> rounds paired",
    "<n> comparison with <impl>, over <n> rounds paired",
)
def _how_sure(told: Told, _n: int, b: str, *rounds: int) -> Expected:
    cells = told.run.cells(told.condition, told.pair[0], b)
    n = sorted({one.n for one in cells.values()})
    return [len(cells), None, *([n[0], n[-1]] if len(rounds) == 2 else n)]


@says("If nothing differed, about <n> of them would still show a difference by chance")
def _by_chance(told: Told, *_: Slot) -> Expected:
    return [round(len(told.cells) * (1 - told.run.settings.confidence))]


@says(
    "After Holm's correction for their number, <n> differences stand",
    "After Holm's correction for their number, <n> difference stands",
)
def _after_holm(told: Told, *_: Slot) -> Expected:
    return [told.run.corrected(told.cells)]
