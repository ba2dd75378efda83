"""What is said before the passes behind the grid: how much may follow, and what the time holds."""

from dataclasses import dataclass

from copycost.config.config import Config
from copycost.config.grid import Grid
from copycost.snakefile.progress import STREAMS, count, format_duration


@dataclass(frozen=True, slots=True)
class Ahead:
    """What may follow the grid: a sentence, and how long that takes at most [s]."""

    sentence: str
    most_s: float


def forecast(config: Config, each_s: float | None) -> Ahead | None:
    """Return what may follow the repetitions of the grid; None where no time is stated.

    One of those takes `each_s` [s], which is None where all were measured before.
    """
    measure = config.measure
    if measure.minutes is None:
        return None
    if each_s is None:
        each_s = STREAMS.expected_s(measure.warmup_s + measure.duration_s)
    grid = Grid.of(config)
    time_s, first_s = 60.0 * measure.minutes, grid.n_repetitions(config) * each_s
    stated = format_duration(time_s)
    if grid.rounds == 1:
        return Ahead(
            f"copycost: in {stated} every cell is measured once, which takes about "
            f"{format_duration(first_s)}, and nothing has an interval: shorten the lists, or give "
            f"{format_duration(2 * first_s)} or more.",
            0.0,
        )
    more_s = max(time_s - first_s, 0.0)
    return Ahead(
        f"copycost: up to {count(int(more_s / each_s), 'more repetition')}, about "
        f"{format_duration(more_s)}, may follow where comparisons are open: the time is {stated}.",
        more_s,
    )
