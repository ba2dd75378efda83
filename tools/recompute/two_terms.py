"""A cost of two terms, so much for each and so much per byte, as the report words the fit."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from tools.recompute.estimates import Estimate

# a fit that lies further off than this at a size is none
_MISFIT = 0.25


@dataclass(frozen=True)
class TwoTerms:
    """The terms [ns, ns per byte], at which size they are even [bytes], and the largest misfit."""

    fixed: Estimate
    per_byte: Estimate
    even: Estimate
    misfit: float


def two_terms(rows: pd.DataFrame, column: str, confidence: float) -> TwoTerms | None:
    """Return the fit of a column along the sizes; None of fewer than two."""
    costs = {
        size: of.to_numpy(float)
        for size, of in rows.dropna(subset=column).groupby("msg_bytes")[column]
    }
    if len(costs) < 2:
        return None
    middles = np.array([np.median(of) for of in costs.values()])
    # how many values a mean would need to be as certain as this median, of normal errors
    worth = np.array([n if n < 3 else n * 2 / math.pi for n in map(len, costs.values())])
    sizes = np.array(list(costs), dtype=float)
    # relative errors: divide by the medians, and all rows err alike
    scale = np.sqrt(worth) / middles
    design = np.stack([scale, scale * sizes], axis=1)
    (fixed, per_byte), *_ = np.linalg.lstsq(design, scale * middles, rcond=None)
    covariance = np.linalg.pinv(design) @ np.linalg.pinv(design).T
    fitted = fixed + per_byte * sizes
    off = abs(middles - fitted) / abs(fitted)
    n_sizes = len(sizes)
    reach = math.nan
    if n_sizes > 2:
        left = float(((scale * (middles - fitted)) ** 2).sum()) / (n_sizes - 2)
        reach = max(
            float(stats.t.ppf((1 + confidence) / 2, n_sizes - 2)) * math.sqrt(left),
            _by_chance(list(costs.values()), confidence),
        )
    of_all = 1.0 - (1.0 - confidence) / n_sizes
    sure = off[off > _by_chance(list(costs.values()), of_all) / np.sqrt(worth)]
    halves = reach * np.sqrt(covariance.diagonal())
    return TwoTerms(
        Estimate(fixed, fixed - halves[0], fixed + halves[0], n=2),
        Estimate(per_byte, per_byte - halves[1], per_byte + halves[1], n=2),
        _even(fixed, per_byte, reach**2 * covariance),
        float(sure.max(initial=0.0)),
    )


def kind(found: TwoTerms) -> str:
    """Return which terms are seen."""
    if found.misfit > _MISFIT:
        return "no sum"
    nothing = [one.low <= 0 for one in (found.fixed, found.per_byte)]
    return {
        (True, True): "neither", (True, False): "per byte", (False, True): "per datagram",
    }.get((nothing[0], nothing[1]), "both")  # fmt: skip


def _even(fixed: float, per_byte: float, spread: np.ndarray) -> Estimate:
    """Return the size at which both are even, with Fieller's interval: where their test says so."""
    if fixed <= 0 or per_byte <= 0:
        return Estimate(math.nan)
    # (fixed - q per_byte)^2 = spread of that difference
    square = [
        per_byte**2 - spread[1, 1], -2 * (fixed * per_byte - spread[0, 1]), fixed**2 - spread[0, 0]
    ]  # fmt: skip
    if not (square[0] > 0 and square[2] > 0):
        return Estimate(fixed / per_byte)
    low, high = sorted(np.roots(square).real)
    return Estimate(fixed / per_byte, float(low), float(high), n=2)


def _by_chance(costs: list[np.ndarray], confidence: float) -> float:
    """Return how far off its mean a repetition may lie by chance, as a share of it."""
    off = np.concatenate([of / of.mean() - 1.0 for of in costs])
    freedom = len(off) - len(costs)
    if freedom == 0:
        return 0.0
    spread = math.sqrt(float((off**2).sum()) / freedom)
    return float(stats.t.ppf((1 + confidence) / 2, freedom)) * spread
