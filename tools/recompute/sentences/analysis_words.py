"""How many differences of a comparison stand."""

from tools.recompute.told import Expected, Slot, Told, says


@says(
    "Of <n> comparisons, each over <n> rounds, <n> differences stand",
    "Of <n> comparisons, each over <n> rounds, <n> difference stands",
    "Of <n> comparisons, each over <n> to <n> rounds, <n> differences stand",
    "Of <n> comparisons, each over <n> to <n> rounds, <n> difference stands",
    "Of <n> comparison, each over <n> rounds, <n> difference stands",
)
def _stand(told: Told, *said: Slot) -> Expected:
    cells = told.cells
    rounds = sorted({one.n for one in cells.values()})
    ends = [rounds[0], rounds[-1]] if len(said) == 4 else rounds
    return [len(cells), *ends, told.run.corrected(cells)]
