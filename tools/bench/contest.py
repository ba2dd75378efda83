"""Our program beside another one: interleaved rounds until they tell which limit is kept."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tools.bench.bench import Bench
from tools.bench.rows import Limit, Row, row_of_rounds

Rounds: TypeAlias = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Contest:
    """Two programs, ours and another one, each in several placements on the CPUs.

    A contender runs a program once and returns what is compared; its name begins with the
    program's. The limit is what the ratio of ours to theirs should keep, `at_least` where more is
    better. The quantity has the unit of the note, into which `per_unit` divides a result.
    """

    group: str
    name: str
    programs: tuple[str, str]
    contenders: Mapping[str, Callable[[], float]]
    limit: Limit
    quantity: str
    per_unit: float

    def favourites(self, rounds: Rounds) -> tuple[str, str]:
        """Return the better placement of each program, by the median of its rounds."""
        more_is_better = self.limit.bound == "at_least"

        def better(program: str) -> str:
            placements = [name for name in rounds if name.startswith(program)]
            placements.sort(key=lambda name: statistics.median(rounds[name]))
            return placements[-1 if more_is_better else 0]

        ours, theirs = self.programs
        return better(ours), better(theirs)

    def row(self, rounds: Rounds, favourites: tuple[str, str]) -> Row:
        """Return the ratio of the favourites, paired by round."""
        ours, theirs = favourites
        shown = ", ".join(
            f"{name} {statistics.median(values) / self.per_unit:.1f}"
            for name, values in rounds.items()
        )
        return row_of_rounds(
            self.group,
            self.name,
            [x / y for x, y in zip(rounds[ours], rounds[theirs], strict=True)],
            "",
            self.limit,
            note=f"{self.quantity}: {shown}",
        )


def contest_row(bench: Bench, contest: Contest) -> Row:
    """Measure a contest: all contenders first, then, as long as it is open, the favourites.

    As many rounds again are added while the interval of the ratio holds the limit, up to
    `bench.most_rounds`. Looking several times misleads a little more often than the confidence of
    the interval says.
    """
    results = bench.in_rounds(contest.contenders, 0, bench.rounds)
    favourites = contest.favourites(results)
    finalists = {name: contest.contenders[name] for name in favourites}
    row = contest.row(results, favourites)
    while row.unsure and row.n < bench.most_rounds:
        end = min(row.n + bench.rounds, bench.most_rounds)
        for name, values in bench.in_rounds(finalists, row.n, end).items():
            results[name] += values
        row = contest.row(results, favourites)
    return row
