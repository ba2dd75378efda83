"""How often what is said over many hosts is wrong: hosts whose truth is known, judged as real ones.

The truths are not those that the intervals assume: effects of hosts may have heavy tails, fall into
two groups or lean to one side, and hosts are measured with noises of their own, of different size,
in few rounds. As a page::

    PYTHONPATH=workflow python -m tools.simulate_across_hosts page --runs 2000 --seed 1
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from copycost.fleet.associations import Fact, associations
from copycost.stats.random_effects import across_hosts, outlying
from copycost.stats.settings import FloatArray
from tools.simulation.noise import NOISES

CONFIDENCE = 0.95
SPREAD = 0.15
"""Standard deviation of the hosts' true effects, of logarithms."""

ROUND_NOISE = 0.06
"""Of a round's log ratio in the middle; hosts differ in it by a factor of about two."""

_LEAN = 0.6
Effects = Callable[[np.random.Generator, int], FloatArray]


def _two_groups(rng: np.random.Generator, n: int) -> FloatArray:
    """Draw hosts of which a third is of another kind."""
    group = rng.random(n) < 1 / 3
    return np.where(group, 2.0, 0.0) + 0.3 * rng.normal(size=n)


def _leaning(rng: np.random.Generator, n: int) -> FloatArray:
    return np.asarray(np.exp(_LEAN * rng.normal(size=n)))


EFFECTS: Mapping[str, Effects] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy tails (t3)": lambda rng, n: rng.standard_t(3, size=n),
    "two groups": _two_groups,
    "leaning to one side": _leaning,
    "none: all hosts alike": lambda rng, n: np.zeros(n),
}
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

    Attributes
    ----------
    mean, spread, following
        The interval holds the true mean, the true spread, the true effect of a further host.
    width
        Median width of the interval for a further host over that of an oracle that knows the
        middle 95 % of true effects; NaN where all hosts are alike.
    outlier
        Any host is called one, though all are of the same kind.
    found
        A host whose effect is eight spreads off is called one.
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
    """Return what each host is measured to have, and the standard error of that.

    Parameters
    ----------
    true
        Shape (n_hosts,): the hosts' true effects.
    """
    n = true.size
    own = ROUND_NOISE * np.exp(0.7 * rng.normal(size=n))
    logs = true[:, None] + own[:, None] * NOISES[noise](rng, (n, n_rounds))
    return logs.mean(axis=1), logs.std(axis=1, ddof=1) / math.sqrt(n_rounds)


def chance_associations(n_hosts: int, n_runs: int, seed: int) -> float:
    """Return how often any of ten facts is said to go with an effect that none of them does."""
    rng = np.random.default_rng([seed, n_hosts])
    wrong = 0
    for _ in range(n_runs):
        facts = [Fact(f"n{k}", tuple(rng.lognormal(size=n_hosts))) for k in range(5)]
        facts += [
            Fact(f"c{k}", tuple(rng.choice(list("abc"), n_hosts, p=(0.5, 0.3, 0.2))))
            for k in range(5)
        ]
        effects = rng.standard_t(3, size=n_hosts)
        wrong += bool(associations(effects, facts))
    return wrong / n_runs


def page(results: Sequence[Told], chances: Mapping[int, float], n_runs: int, seed: int) -> str:
    """Return the page in Markdown."""
    return "\n".join([*_lines(results, chances, n_runs, seed), ""])


def _lines(
    results: Sequence[Told], chances: Mapping[int, float], n_runs: int, seed: int
) -> Iterator[str]:
    plain = [told for told in results if not told.effects.startswith("none")]
    error = math.sqrt(0.05 * 0.95 / n_runs)
    yield f"""\
# Many hosts: how often what is said over them is wrong

`./run merge` estimates, over hosts, the mean of a ratio, how far hosts differ in it, and where that
of a further host is expected. Here these intervals, which claim 95 %, are tried on simulated hosts
whose truth is known. Written by

    PYTHONPATH=workflow python -m tools.simulate_across_hosts page --runs {n_runs} --seed {seed} \\
        > docs/across_hosts.md

{n_runs} fleets of each kind, so that a share of 95 % is known to {error:.1%}. The true effects of
hosts have a standard deviation of {SPREAD:.0%} (of logarithms, as all here) and are normal, have
heavy tails, fall into two groups, or lean to one side; or all hosts are alike. Rounds scatter by
{ROUND_NOISE:.0%} in the middle, from host to host by a factor of about two.

A host's effect and the ratios of its rounds are drawn numbers, no records: this tries the
statistics. That records lead to such numbers is tested on a small simulated fleet, whose records
are made of real ones.

*Mean*, *Spread*, *Further*: how often the interval holds the true mean, the true standard
deviation, and the true effect of a host that was not measured. *Width*: of the interval for a
further host, over that of who knows the middle 95 % of all true effects. *Outlier*: fleets in which
any host is called one though none is of another kind (claimed: at most 5 %); where effects have
heavy tails or lean, rare hosts really lie far off. *Found*: how often a host that lies eight
spreads off is called one.

- The interval for a further host holds its effect in {_span(plain, "following")} of the fleets,
  that of the mean in {_span(plain, "mean")}.
- The interval of the spread holds it in {
        _span([t for t in plain if t.effects == "normal"], "spread")
    } where effects are normal, and in as few as
  {
        min(
            t.spread for t in plain
        ):.0%} where they are not: with heavy tails a few hosts do not tell it.
- Of ten facts of which none has to do with the effect, any is said to go with it in
  {" and ".join(f"{share:.1%} ({n} hosts)" for n, share in chances.items())} of the fleets
  (claimed: at most 5 %).

| Effects | Noise of rounds | Hosts | Rounds | Mean | Spread | Further | Width | Outlier | Found |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""
    for told in results:
        width = "-" if math.isnan(told.width) else f"{told.width:.2f}"
        shares = " | ".join(f"{one:.1%}" for one in (told.mean, told.spread, told.following))
        rest = f"{width} | {told.outlier:.1%} | {told.found:.0%}"
        kind = f"{told.effects} | {told.noise} | {told.n_hosts} | {told.n_rounds}"
        yield f"| {kind} | {shares} | {rest} |"


def _span(told: Sequence[Told], name: str) -> str:
    shares = [getattr(one, name) for one in told]
    return f"{min(shares):.0%} to {max(shares):.0%}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the page; return 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=["page"])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    kinds = [(name, "normal", n, 7) for name in EFFECTS for n in (4, 10, 40, 200)]
    kinds += [(name, "normal", 10, 2) for name in EFFECTS]
    kinds += [("normal", noise, 10, 7) for noise in NOISES if noise != "normal"]
    results = [simulate(*kind, options.runs, options.seed) for kind in kinds]
    chances = {n: chance_associations(n, options.runs, options.seed) for n in (10, 40)}
    print(page(results, chances, options.runs, options.seed), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
