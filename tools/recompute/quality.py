"""The checks of how clean a condition's cells are, and what the flagged repetitions change."""

import re
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import pandas as pd

from tools.recompute.run import THROUGHPUT, Run, pair_of, relative_of

CELL = ["implementation", "msg_bytes", "n_threads"]
WARNINGS = {
    "Repetitions with foreign load": "foreign_load",
    "Repetitions with CPU time stolen": "steal",
    "Repetitions with a lowered clock": "throttled",
    "Repetitions with a late window": "window_edge_late",
    "Repetitions with odd numbers": "odd_numbers",
}
# fewer rounds always lie on a line
_LEAST_FOR_A_LINE = 3


@dataclass(frozen=True)
class Without:
    """What the throughput comparisons say without some repetitions.

    `compared` keep more than one round, of which `changed` have another verdict and `reversed` the
    opposite one; `once` keep a single round, `none` no round.
    """

    compared: int
    changed: int
    reversed: int
    once: int
    none: int


class Quality:
    """The checks of one condition, each with a value per cell."""

    def __init__(self, run: Run, condition: str) -> None:
        self._run = run
        self._condition = condition
        rows = run.measured(condition).reset_index(drop=True)
        sides = [f"{side}_min_running_percent" for side in ("sender", "receiver")]
        self.rows = rows.assign(
            log=np.log(rows[THROUGHPUT].astype(float)),
            again=rows["tcp_retransmits"].astype(float) / rows["received_bytes"] * 1e9,
            halves=(4 * rows["first_half_share"] - 2).abs(),
            running=rows.reindex(columns=sides).astype(float).min(axis=1) / 100,
            **{
                code: rows["warned"].str.split(";").map(lambda codes, code=code: code in codes)
                for code in WARNINGS.values()
            },
        )
        self._cells = self.rows.groupby(CELL)

    @cached_property
    def values(self) -> dict[str, pd.Series]:
        """What each check looks at, by cell."""
        cells, rates = self._cells, self._cells[THROUGHPUT]
        sums = cells[["tcp_retransmits", "received_bytes"]].sum(min_count=1)
        return {
            "Spread of the throughput over the rounds": rates.std() / rates.mean(),
            "Halves of the window apart": (4 * cells["first_half_share"].median() - 2).abs(),
            "Drift of the throughput over the rounds": cells[["rep", "log"]].apply(_drift),
            "Segments sent again per gigabyte": sums["tcp_retransmits"]
            / sums["received_bytes"]
            * 1e9,
            "Share of the window that a counter ran": cells["running"].min(),
            "Measured repetitions": rates.size(),
        } | {check: cells[code].sum() for check, code in WARNINGS.items()}

    @cached_property
    def broken(self) -> dict[str, pd.Series]:
        """Which cells break the bound of which check."""
        return {check: _breaks(check, values) for check, values in self.values.items()}

    @cached_property
    def flagged(self) -> dict[str, pd.Series]:
        """Which repetitions each check flags.

        Of a cell whose rounds spread or drift, the one furthest from its median.
        """
        rows = self.rows
        columns = {
            "Halves of the window apart": "halves",
            "Segments sent again per gigabyte": "again",
            "Share of the window that a counter ran": "running",
        }
        found = {check: _breaks(check, rows[column]) for check, column in columns.items()}
        found |= {check: rows[code] for check, code in WARNINGS.items()}
        off = rows.assign(off=(rows["log"] - self._cells["log"].transform("median")).abs())
        furthest = rows.index.isin(off.groupby(CELL)["off"].idxmax())
        cells = pd.MultiIndex.from_frame(rows[CELL])
        for check in ("Spread", "Drift"):
            check = f"{check} of the throughput over the rounds"
            broken = self.broken[check]
            found[check] = pd.Series(furthest & cells.isin(broken.index[broken]), rows.index)
        return found

    @property
    def clean(self) -> int:
        """How many cells break no bound."""
        return int((~pd.DataFrame(self.broken).any(axis=1)).sum())

    @property
    def warned(self) -> pd.Series:
        """Which repetitions the machine disturbed."""
        return self.rows[[*WARNINGS.values()]].any(axis=1)

    @property
    def any(self) -> pd.Series:
        """Which repetitions any check flags."""
        return pd.DataFrame(self.flagged).any(axis=1)

    def without(self, flagged: pd.Series) -> Without:
        """Return what the comparisons say without these repetitions."""
        rows = self.rows
        before, after = (relative_of(one, THROUGHPUT) for one in (rows, rows[~flagged]))
        signs: list[tuple[int, int]] = []
        once = none = 0
        for a, b in self._pairs():
            made = pair_of(before, a, b)
            kept = pair_of(after, a, b).reindex_like(made)
            for cell in made.index:
                pairs = [self._run.ratio(logs.loc[cell]) for logs in (made, kept)]
                if pairs[1].n == 0:
                    none += 1
                elif pairs[0].n > 1 and pairs[1].n == 1:
                    once += 1
                else:
                    signs.append((pairs[0].sign, pairs[1].sign))
        changed = sum(one != other for one, other in signs)
        opposite = sum(one * other < 0 for one, other in signs)
        return Without(len(signs), changed, opposite, once, none)

    def _pairs(self) -> list[tuple[str, str]]:
        """Return who is compared with whom: as the table of ratios has it."""
        told = pd.read_csv(self._run.results / "tables/ratios.csv")
        told = told[(told["condition"] == self._condition) & (told["metric"] == THROUGHPUT)]
        pairs = told[["implementation", "baseline"]].drop_duplicates()
        return [(a, b) for a, b in pairs.itertuples(index=False)]


@cache
def quality_of(run: Run, condition: str) -> Quality:
    """Return the checks of a condition."""
    return Quality(run, condition)


def bound(check: str) -> tuple[str, float]:
    """Return which side of which bound breaks it, in the words of the table."""
    if check in WARNINGS or check == "Segments sent again per gigabyte":
        return "or more", 1.0
    if check == "Share of the window that a counter ran":
        return "under", 0.5
    return ("under", 3.0) if check == "Measured repetitions" else ("over", 0.1)


def _breaks(check: str, values: pd.Series) -> pd.Series:
    side, limit = bound(check)
    if side == "over":
        return values > limit
    return values < limit if side == "under" else values >= limit


def _drift(rows: pd.DataFrame) -> float:
    """Return how far throughput moved along the line through a cell's rounds, as a share."""
    if len(rows) < _LEAST_FOR_A_LINE:
        return np.nan
    slope, _ = np.polyfit(rows["rep"], rows["log"], 1)
    return float(abs(np.expm1(slope * (rows["rep"].max() - rows["rep"].min()))))


def limit_in(text: str) -> tuple[str, float]:
    """Return a bound as a table has it: ``over 10 %``, ``1 or more``."""
    found = re.fullmatch(r"(over |under )?([\d.]+)( %)?( or more)?", text)
    assert found is not None
    return (found[1] or found[4] or "").strip(), float(found[2]) / (100 if found[3] else 1)
