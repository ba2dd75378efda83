"""What is said before the passes behind the grid: how much may follow, and what the time holds."""

from dataclasses import dataclass

from copycost.config.config import Config
from copycost.config.grid import Grid
from copycost.config.looks import FEWEST_ROUNDS
from copycost.snakefile.progress import STREAMS, count, format_duration


@dataclass(frozen=True, slots=True)
class Ahead:
    """What may follow the grid.

    Attributes
    ----------
    sentence
        How many repetitions at most, and on what that depends.
    most_s
        How long these take [s].
    """

    sentence: str
    most_s: float


def forecast(config: Config, each_s: float | None) -> Ahead:
    """Return what may follow the repetitions of the grid.

    Parameters
    ----------
    each_s
        How long one of those takes [s]; None where all were measured before.
    """
    measure, refine = config.measure, config.refine
    grid = Grid.of(config).cells
    if each_s is None:
        each_s = STREAMS.expected_s(measure.warmup_s + measure.duration_s)
    if measure.minutes is not None:
        return _of_time(60.0 * measure.minutes, len(grid), max(cell.rep for cell in grid), each_s)
    most = max(cell.rep for cell in grid if cell.study == "streams")
    n_more = min(refine.max_cells * most, int(60.0 * refine.max_minutes / each_s))
    most_s = n_more * each_s
    return Ahead(
        f"copycost: up to {n_more} more repetitions, about {format_duration(most_s)}, may follow "
        "where a verdict changes between two sizes.",
        most_s,
    )


def _of_time(time_s: float, n_first: int, n_rounds: int, each_s: float) -> Ahead:
    """Return what the stated time holds."""
    round_s = n_first / n_rounds * each_s
    stated = format_duration(time_s)
    if time_s < round_s:
        return Ahead(
            f"copycost: {stated} are too short for one round of every cell, which takes about "
            f"{format_duration(round_s)} and is measured all the same; nothing will have an "
            f"interval: shorten the lists, or give {format_duration(2 * round_s)} or more.",
            0.0,
        )
    if n_rounds == 1:
        return Ahead(
            f"copycost: {stated} hold one round of every cell, so nothing will have an interval: "
            f"shorten the lists, or give {format_duration(2 * round_s)} or more.",
            0.0,
        )
    n_more = max(int((time_s - n_first * each_s) / each_s), 0)
    said = f"copycost: {stated} hold {count(n_rounds, 'round')} of every cell"
    more, more_s = count(n_more, "more repetition"), n_more * each_s
    if n_rounds < FEWEST_ROUNDS:
        return Ahead(f"{said}; up to {more} may follow.", more_s)
    return Ahead(
        f"{said}; up to {more}, about {format_duration(more_s)}, may follow where comparisons are "
        "open.",
        more_s,
    )
