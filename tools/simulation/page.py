"""The page that states what was found, `docs/simulation.md`."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from tools.simulation.crossovers import LEVELS, ROUNDS, Counts
from tools.simulation.groups import Share
from tools.simulation.noise import DRIFT, NOISES
from tools.simulation.pairs import REPETITIONS
from tools.simulation.truths import NEARLY_EQUAL

_MANY = 100
"""A share of fewer brackets is hardly determined."""

Row = TypeVar("Row")
Key = TypeVar("Key", bound=Hashable)


def page(
    command: str,
    counts: Sequence[Counts],
    dependence: Sequence[Share],
    comparisons: Sequence[Share],
    extremes: Sequence[Share],
    pairs: Sequence[Share],
) -> str:
    """Return the page in Markdown."""
    independent = [row for row in counts if row.noise != DRIFT]
    least_name, least_sizes, least = _least_held(independent)
    near = [row for row in independent if row.truth == NEARLY_EQUAL]
    return _PAGE.format(
        command=command,
        n_runs=counts[0].n_runs,
        levels=" and ".join(f"{level:.0%}" for level in LEVELS),
        many=_MANY,
        least_name=least_name,
        least_sizes=least_sizes,
        least=least,
        normal=_held_span(counts, "normal"),
        heavy=_held_span(counts, "heavy tails (t3)"),
        modes_few=_held_span(counts, "two modes of one side", ROUNDS[:1]),
        modes_many=_held_span(counts, "two modes of one side", ROUNDS[-1:]),
        dips=_held_span(counts, "dips of one side"),
        drift=_held_span(counts, DRIFT),
        near_told=_share(near, "n_claimed", "n_runs"),
        near_held=_share(near, "n_held", "n_named"),
        held=_share(independent, "n_held", "n_named"),
        n_named=f"{_sum(independent, 'n_named'):,}",
        held_drift=_share([row for row in counts if row.noise == DRIFT], "n_held", "n_named"),
        false_depends=_most([row for row in dependence if row.noise != DRIFT]),
        false_drift=_most([row for row in dependence if row.noise == DRIFT]),
        by_noise=_by_noise(counts),
        by_truth=_by_truth(independent),
        dependence=_shares(dependence),
        comparisons=_shares(comparisons),
        extremes=_shares(extremes),
        n_pairs=f"{pairs[0].n_runs:,}",
        pairs_align=" | ".join(["---:"] * len(REPETITIONS)),
        pairs_rounds=" | ".join(map(str, REPETITIONS)),
        pairs=_shares(pairs),
    )


def _least_held(counts: Sequence[Counts]) -> tuple[str, int, str]:
    """Return the truth, and its number of sizes, whose brackets hold it least, and how often."""
    groups = _groups(counts, lambda row: (row.truth, row.n_sizes))
    known = [(key, rows) for key, rows in groups if _sum(rows, "n_named") >= _MANY]
    (name, n_sizes), rows = min(
        known or groups,
        key=lambda group: _sum(group[1], "n_held") / (_sum(group[1], "n_named") or 1),
    )
    return name, n_sizes, _share(rows, "n_held", "n_named")


def _held_span(counts: Sequence[Counts], noise: str, rounds: Sequence[int] = ROUNDS) -> str:
    """Return how many intervals of ratios hold the truth, by the number of rounds from to."""
    mine = [[row for row in counts if (row.noise, row.n_rounds) == (noise, n)] for n in rounds]
    shares = [_sum(rows, "n_ratios_held") / _sum(rows, "n_ratios") for rows in mine]
    low, high = f"{min(shares):.0%}", f"{max(shares):.0%}"
    return low if low == high else f"{low} to {high}"


def _by_noise(counts: Sequence[Counts]) -> str:
    """Return a row for each noise and number of rounds."""
    rows = []
    for noise in NOISES:
        for n_rounds in ROUNDS:
            mine = [row for row in counts if (row.noise, row.n_rounds) == (noise, n_rounds)]
            rows.append(
                f"| {noise} | {n_rounds} | {_share(mine, 'n_ratios_held', 'n_ratios')} "
                f"| {_share(mine, 'n_held', 'n_named')} of {_sum(mine, 'n_named'):,} "
                f"| {_share(mine, 'n_wrong', 'n_runs')} |\n"
            )
    return "".join(rows)


def _by_truth(counts: Sequence[Counts]) -> str:
    """Return a row for each truth and grid, over all noises but drift."""
    rows = []
    for (name, n_sizes), mine in _groups(counts, lambda row: (row.truth, row.n_sizes)):
        cells = []
        for n_rounds in ROUNDS:
            some = [row for row in mine if row.n_rounds == n_rounds]
            n_named = _sum(some, "n_named")
            held = f"{_share(some, 'n_held', 'n_named')} of {n_named:,}" if n_named else ""
            cells.append(f"{_share(some, 'n_claimed', 'n_runs')} | {held}")
        wrong = _share(mine, "n_wrong", "n_runs")
        rows.append(f"| {name} | {n_sizes} | {' | '.join(cells)} | {wrong} |\n")
    return "".join(rows)


def _shares(found: Sequence[Share]) -> str:
    """Return a row for each statement and noise, a column for each number of rounds."""
    rows = []
    for (what, noise), mine in _groups(found, lambda row: (row.what, row.noise)):
        cells = " | ".join(f"{row.n_yes / row.n_runs:.1%}" for row in mine)
        rows.append((what, f"| {what} | {noise} | {cells} |\n"))
    order = list(dict.fromkeys(what for what, _ in rows))
    return "".join(text for _, text in sorted(rows, key=lambda row: order.index(row[0])))


def _most(found: Sequence[Share]) -> str:
    """Return the largest share of runs that say so where it is not so."""
    return f"{max(row.n_yes / row.n_runs for row in found if not row.is_so):.1%}"


def _groups(rows: Iterable[Row], key: Callable[[Row], Key]) -> list[tuple[Key, list[Row]]]:
    groups: dict[Key, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return list(groups.items())


def _sum(rows: Iterable[Counts], name: str) -> int:
    return sum(getattr(row, name) for row in rows)


def _share(rows: Sequence[Counts], part: str, whole: str) -> str:
    n = _sum(rows, whole)
    return f"{_sum(rows, part) / n:.1%}" if n else ""


_PAGE = """\
# Does the analysis keep its promises?

Simulated runs whose truth is known, {n_runs} of each kind, analysed by the code that analyses real
runs. Written by

    {command}

The truths are not what the analysis assumes. The cost of a message is a line over its size, with
bends where it and its copy fill the L1 or the L2 cache, or with steps at every page (4 KiB) or
segment (64 KiB), or it is that of a real run (`tools/simulation/measured_costs.csv`). Rounds
scatter normally, with heavy tails, between two modes or with dips of one side, or drift slowly (an
autoregression of 0.6, so that they are not independent). Each side of a ratio has a spread of
{levels} in the middle, and cells differ in it by a factor of about 1.6.

What holds, and what does not:

- **Ratios.** The intervals hold the truth in {normal} where rounds scatter normally and in {heavy}
  with heavy tails. Where one side has two modes, it is {modes_few} with three rounds and
  {modes_many} with ten; where it dips, {dips}; with drift, {drift}.
- **Places.** A crossover's place is the bracket of the two measured sizes between which the verdict
  turns. Of the {n_named} brackets that were named with independent rounds, {held} hold the truth;
  with drift, {held_drift}. What is told are signs at sizes that were measured, which need no
  assumption of how the cost runs between them: so it does not matter whether it is a line, bends or
  steps.
  Of the truths with {many} brackets and more, *{least_name}* with {least_sizes}
  sizes holds it least, in {least}.
- **No point within the bracket is named.** Where the cost steps, the place is at the step, of which
  the two sizes beside it tell nothing. For the same reason nothing is said between two sizes with
  the same verdict: with steps at segments, `from 64 KiB up` is right at every power of two and
  wrong at 64 KiB and a byte.
- **Nearly equal ways.** Where the two differ by 1 to 2 % at most, {near_told} of the runs tell a
  shape, and {near_held} of the brackets named hold the truth: they are of the runs that chance
  favoured.
- **"Depends on the number of threads"** is said where it is not so in at most {false_depends} of
  the runs of any truth, noise and number of rounds, and with drift in up to {false_drift}. The
  price is that it takes clear differences or many rounds.
- **Extremes.** The interval of the best or the worst of many cells holds the truth less often than
  that of a cell that was not picked. One that allows for the choice keeps its promise where rounds
  scatter normally or with heavy tails, and not always where one side has two modes or dips; with
  drift it does not.

## By noise

*Ratio held*: intervals that hold the true ratio, of all sizes. *Bracket held*: of the brackets that
were named. *Wrong*: runs, of all, that tell a shape which has another sign at some size than the
truth.

| Noise | Rounds | Ratio held | Bracket held | Wrong |
| --- | ---: | ---: | ---: | ---: |
{by_noise}
## By truth

Over all noises but drift, for 3, 5, 7 and 10 rounds. *Sizes*: how many were measured; where two
rows differ in it, the second has sizes a factor of 1.4 apart where the truth changes sign. *Told*:
runs with a shape rather than `undecided`. *Held*: brackets, of those named. *Wrong*: as above, over
all numbers of rounds.

| Truth | Sizes | 3: told | held | 5: told | held | 7: told | held | 10: told | held | Wrong |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{by_truth}
## Does it depend on the number of threads?

Seven sizes with four numbers of threads; in the first three truths it does not, and their spreads
are those of a real run, cell by cell. The last one is how often it is found where it does.

| Truth | Noise | 3 rounds | 5 | 7 | 10 |
| --- | --- | ---: | ---: | ---: | ---: |
{dependence}
## Is one crossover at a smaller size than another?

By the brackets, which must not overlap; each side of a ratio has a spread of 2 %.

| Truth | Noise | 3 rounds | 5 | 7 | 10 |
| --- | --- | ---: | ---: | ---: | ---: |
{comparisons}
## The best and the worst of 28 cells

How often the interval holds the truth; ratios and spreads are those of a real run.

| Interval | Noise | 3 rounds | 5 | 7 | 10 |
| --- | --- | ---: | ---: | ---: | ---: |
{extremes}
## Repetitions that are pairs

In a repetition of copycost two ways send in turn, in slices, over one start of the programs or
several. Of {n_pairs} cells each, how often the interval of the ratio holds the truth, by the number
of repetitions. Slices take after the ones before them (an autoregression of 0.6), which the
interval does not mind, since whole repetitions are its replicates. Starts differ by about twice as
much as the slices of one scatter together: normally, with heavy tails, between two modes or with
dips. Few starts in all may miss a mode or all dips, so several starts in a repetition help.

| Starts | They differ by | {pairs_rounds} |
| --- | --- | {pairs_align} |
{pairs}"""
