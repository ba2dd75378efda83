"""What is said before the passes behind the grid: how much may follow, and what the time holds."""

from copycost.config.config import Config
from copycost.config.grid import Grid
from copycost.config.looks import FEWEST_ROUNDS
from copycost.snakefile.progress import STREAMS, count, format_duration


def forecast(config: Config) -> str:
    """Return how many repetitions may follow those of the grid at most, in a sentence or two."""
    measure, refine = config.measure, config.refine
    grid = Grid.of(config).cells
    each_s = STREAMS.expected_s(measure.warmup_s + measure.duration_s)
    if measure.minutes is not None:
        return _of_time(60.0 * measure.minutes, len(grid), max(cell.rep for cell in grid), each_s)
    most = max(cell.rep for cell in grid if cell.study == "streams")
    n_more = min(refine.max_cells * most, int(60.0 * refine.max_minutes / each_s))
    return (
        f"copycost: up to {n_more} more repetitions, about {format_duration(n_more * each_s)}, may "
        "follow where a verdict changes between two sizes."
    )


def _of_time(time_s: float, n_first: int, n_rounds: int, each_s: float) -> str:
    """Return what the stated time holds."""
    round_s = n_first / n_rounds * each_s
    stated = format_duration(time_s)
    if time_s < round_s:
        return (
            f"copycost: {stated} are too short for one round of every cell, which takes about "
            f"{format_duration(round_s)} and is measured all the same; nothing will have an "
            f"interval: shorten the lists, or give {format_duration(2 * round_s)} or more."
        )
    if n_rounds == 1:
        return (
            f"copycost: {stated} hold one round of every cell, so nothing will have an interval: "
            f"shorten the lists, or give {format_duration(2 * round_s)} or more."
        )
    n_more = max(int((time_s - n_first * each_s) / each_s), 0)
    said = f"copycost: {stated} hold {count(n_rounds, 'round')} of every cell"
    if n_rounds < FEWEST_ROUNDS:
        return f"{said}; up to {count(n_more, 'more repetition')} may follow."
    return (
        f"{said}; up to {count(n_more, 'more repetition')}, about "
        f"{format_duration(n_more * each_s)}, may follow where comparisons are open."
    )
