"""How often what is said over many hosts is wrong: hosts whose truth is known, judged as real ones.

The truths are not those that the intervals assume: effects of hosts may have heavy tails, fall into
two groups or lean to one side, and hosts are measured with noises of their own, of different size,
in few rounds.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from copycost.analysis.stats.random_effects import across_hosts, outlying
from copycost.analysis.stats.settings import FloatArray
from tools.simulation.noise import NOISES

CONFIDENCE = 0.95
SPREAD = 0.15
"""Standard deviation of the hosts' true effects, of logarithms."""

ROUND_NOISE = 0.06
"""Of a round's log ratio in the middle; hosts differ in it by a factor of about two."""

_LEAN = 0.6
Effects = Callable[[np.random.Generator, int], FloatArray]


EFFECTS: Mapping[str, Effects] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy tails (t3)": lambda rng, n: rng.standard_t(3, size=n),
    # a third is of another kind
    "two groups": lambda rng, n: 2.0 * (rng.random(n) < 1 / 3) + 0.3 * rng.normal(size=n),
    "leaning to one side": lambda rng, n: np.exp(_LEAN * rng.normal(size=n)),
    "none: all hosts alike": lambda rng, n: np.zeros(n),
}
KINDS = (
    *((name, "normal", n, 7) for name in EFFECTS for n in (4, 10, 40, 200)),
    *((name, "normal", 10, 2) for name in EFFECTS),
    *(("normal", noise, 10, 7) for noise in NOISES if noise != "normal"),
)
"""Effects, noise, hosts and rounds of the fleets that are simulated."""

_MOMENTS = 400_000


def moments(name: str) -> tuple[float, float]:
    """Return mean and standard deviation of effects of a kind."""
    if name.startswith("none"):
        return 0.0, 1.0
    if name == "heavy tails (t3)":
        return 0.0, math.sqrt(3.0)
    if name == "leaning to one side":
        square = math.exp(_LEAN**2)
        return math.sqrt(square), math.sqrt((square - 1.0) * square)
    found = EFFECTS[name](np.random.default_rng(1), _MOMENTS)
    return float(found.mean()), float(found.std())


@dataclass(frozen=True, slots=True)
class Told:
    """Shares of the simulated fleets (0 to 1) of one kind.

    `mean`, `spread`, `following`: the interval holds the true mean, the true spread, the true
    effect of a further host. `width`: its median for a further host over that of an oracle that
    knows the middle 95 % of true effects; NaN where all hosts are alike. `outlier`: any host is
    called one, though all are of the same kind; `found`: so is a host whose effect is eight spreads
    off.
    """

    effects: str
    noise: str
    n_hosts: int
    n_rounds: int
    mean: float
    spread: float
    following: float
    width: float
    outlier: float
    found: float


def simulate(effects: str, noise: str, n_hosts: int, n_rounds: int, n_runs: int, seed: int) -> Told:
    """Make fleets of one kind and judge them."""
    rng = np.random.default_rng([seed, n_hosts, n_rounds, *map(ord, effects + noise)])
    middle, size = moments(effects)
    alike = effects.startswith("none")
    held = np.zeros(3)
    widths, n_outliers, n_found = [], 0, 0
    for _ in range(n_runs):
        true = SPREAD * (EFFECTS[effects](rng, n_hosts + 1) - middle) / size
        found, errors = measured(rng, noise, true[:-1], n_rounds)
        told = across_hosts(found, errors, CONFIDENCE)
        spread = 0.0 if alike else SPREAD
        held += [
            told.low <= 0.0 <= told.high,
            told.spread_low <= spread <= told.spread_high,
            told.next_low <= true[-1] <= told.next_high,
        ]
        widths.append(told.next_high - told.next_low)
        n_outliers += bool((np.nan_to_num(outlying(found, errors, CONFIDENCE)) != 0.0).any())
        found[0] += 8.0 * (SPREAD if not alike else ROUND_NOISE)
        n_found += bool(np.nan_to_num(outlying(found, errors, CONFIDENCE))[0] != 0.0)
    oracle = _middle(effects, middle, size)
    mean, within, following = (float(share) for share in held / n_runs)
    width = math.nan if alike else float(np.median(widths)) / oracle
    return Told(effects, noise, n_hosts, n_rounds, mean, within, following, width,
                n_outliers / n_runs, n_found / n_runs)  # fmt: skip


def _middle(effects: str, middle: float, size: float) -> float:
    """Return the width of what holds the middle 95 % of true effects."""
    many = EFFECTS[effects](np.random.default_rng(2), _MOMENTS)
    ends = np.quantile(SPREAD * (many - middle) / size, [0.025, 0.975])
    return float(ends[1] - ends[0])


def measured(
    rng: np.random.Generator, noise: str, true: FloatArray, n_rounds: int
) -> tuple[FloatArray, FloatArray]:
    """Return what hosts with these true effects are measured to have, and its standard error."""
    n = true.size
    own = ROUND_NOISE * np.exp(0.7 * rng.normal(size=n))
    logs = true[:, None] + own[:, None] * NOISES[noise](rng, (n, n_rounds))
    return logs.mean(axis=1), logs.std(axis=1, ddof=1) / math.sqrt(n_rounds)
