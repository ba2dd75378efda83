"""What a ratio of throughputs consists of: CPUs in use over CPU time per byte."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tools.recompute import estimates
from tools.recompute.estimates import Estimate
from tools.recompute.run import THROUGHPUT, End, Run


@dataclass(frozen=True)
class Parts:
    """The ratios of a difference over the cells together, and the CPUs in use on both ends.

    `sides` has what each side's CPU time by itself makes of the throughput; `costs` and `uses`
    have the logarithms of each cell's ratios: a row per size and threads of the first end, a column
    per round.
    """

    throughput: Estimate
    cost: Estimate
    use: Estimate
    instructions: Estimate
    pace: Estimate
    sides: dict[str, Estimate]
    costs: pd.DataFrame
    uses: pd.DataFrame
    cpus: float
    cpus_before: float

    def share(self, part: Estimate) -> float:
        """Return the part's share of the logarithm of the difference."""
        return abs(float(np.log(part.value) / np.log(self.throughput.value)))


def explained(run: Run, ends: Sequence[tuple[End, End]]) -> Parts:
    """Return the parts of a difference, of the cells and rounds that have all of them.

    A side's part of the change of a sum's logarithm is its own change over the logarithmic mean.
    """
    side = run.side(ends[0][0][0])

    def logs(metric: str) -> list[pd.DataFrame]:
        found = [_levels(run, *both, metric) for both in ends]
        rows = ([one[which] for one in found] for which in (0, 1))
        return [pd.DataFrame(one).reset_index(drop=True) for one in rows]

    names = ("sender", "receiver") if side == "both" else ("sender",)
    by_side = {name: logs(f"{name}_cpu_ns_per_byte") for name in names}
    cost = [np.log(sum(map(np.exp, each))) for each in zip(*by_side.values(), strict=True)]
    throughput = logs(THROUGHPUT)
    use = [t + c - np.log(8e9) for t, c in zip(throughput, cost, strict=True)]
    whole = estimates.block(use[0] - use[1])
    if whole.empty:
        raise LookupError("no cell has CPU time at both ends")

    def used(pair: list[pd.DataFrame]) -> list[pd.DataFrame]:
        return [each.loc[whole.index, whole.columns] for each in pair]

    def ratio(pair: list[pd.DataFrame]) -> Estimate:
        here, there = used(pair)
        return run.ratio((here - there).mean())

    def by_cell(pair: list[pd.DataFrame]) -> pd.DataFrame:
        here, there = used(pair)
        cells = [ends[row][0][2:] for row in here.index]
        index = pd.MultiIndex.from_tuples(cells, names=["msg_bytes", "n_threads"])
        return (here - there).set_axis(index)

    counts = logs(f"{side}_instructions_per_byte")
    pace = [time - count for time, count in zip(cost, counts, strict=True)]
    here, there = used(cost)
    mean = (np.exp(here) - np.exp(there)) / (here - there)
    sides = {}
    for name in names:
        one, other = used(by_side[name])
        sides[name] = run.ratio(-((np.exp(one) - np.exp(other)) / mean).mean())
    cpus = [float(np.exp(each.to_numpy(float)).mean()) for each in used(use)]
    return Parts(
        throughput=ratio(throughput),
        cost=ratio(cost),
        use=ratio(use),
        instructions=ratio(counts),
        pace=ratio(pace),
        sides=sides,
        costs=by_cell(cost),
        uses=by_cell(use),
        cpus=cpus[0],
        cpus_before=cpus[1],
    )


def _levels(run: Run, here: End, there: End, metric: str) -> tuple[pd.Series, ...]:
    """Return the logarithms of both ends, by repetition."""
    (condition, a, *cell), (_, b, *_) = here, there
    if a != b:
        levels = run.levels(condition, a, b, metric)
        return tuple(one.reindex([tuple(cell)]).iloc[0] for one in levels)
    return tuple(run.values(end[0], metric).reindex([end[1:]]).iloc[0] for end in (here, there))
