"""How often question 6 names a violation in runs without any effect.

PYTHONPATH=workflow python -m tools.simulate_unexpected > docs/simulation_unexpected.csv
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.conditions import Studied
from copycost.analysis.metrics import THROUGHPUT, CostMetric
from copycost.analysis.unexpected import unexpected_facts
from copycost.config.conditions import COLD, HOT, Condition
from copycost.stats.settings import StatisticsSettings
from tools.simulation.noise import NOISES
from tools.simulation.output import parser, print_rows

SPREAD = 0.05
"""Standard deviation of each logarithm from round to round."""
N_ROUNDS = 8
WAYS = ("two_copy", "one_copy", "zero_copy")
SINK_SIZES = (2048, 16384, 49152, 65507)
STREAM_SIZES = (256, 1024, 4096, 16384, 65536, 262144, 1048576)
ONE_SIDE = "two modes of two_copy alone"
"""A comparison's shape shows in full where its other side is quiet."""
KINDS = ("normal", "heavy tails (t3)", "two modes of one side", ONE_SIDE)

_COST = CostMetric("cpu_ns", "CPU time", "ns", "cycles_not_counted")


def default_run(rng: np.random.Generator, noise: str) -> dict[str, View]:
    """Return the conditions of a default run in which all ways, sizes and threads are equal."""
    settings = StatisticsSettings(seed=1)
    veth = _view("veth", HOT, STREAM_SIZES, (1, 2, 4, 8), 1.0, rng, noise, settings)
    sink = _view("sink", HOT, SINK_SIZES, (1,), 0.0, rng, noise, settings)
    cold = _view("sink", COLD, SINK_SIZES, (1,), 0.0, rng, noise, settings)
    return {view.name: view for view in (veth, sink, replace(cold, hot=sink))}


def _view(
    testbed: str,
    working_set: str,
    sizes: tuple[int, ...],
    threads: tuple[int, ...],
    copied: float,
    rng: np.random.Generator,
    noise: str,
    settings: StatisticsSettings,
) -> View:
    condition = Condition(testbed, working_set, "recv")
    axes = [WAYS, sizes, threads, range(1, N_ROUNDS + 1)]
    names = ["implementation", "msg_bytes", "n_threads", "rep"]
    rows = pd.MultiIndex.from_product(axes, names=names).to_frame(index=False)
    work, wait = (SPREAD * _scatter(rng, noise, rows) for _ in range(2))
    rows = rows.assign(
        condition=condition.slug,
        status="measured",
        zc_completed=1000.0,
        zc_copied=1000.0 * copied,
        sender_cpus="0",
        receiver_cpus="1",
        user_mode_only=True,
    )
    rows[THROUGHPUT] = 1e10 * np.exp(work + wait)
    for side, share in (("sender", 0.6), ("receiver", 0.4), ("both", 1.0)):
        rows[f"{side}_cpu_ns_per_byte"] = share * np.exp(-work)
    studied = Studied(condition.slug, condition, testbed == "sink", WAYS, sizes, threads)
    return View(studied, rows, rows[:0], rows[:0], settings, _COST, {"l2_bytes": 2 << 20})


def _scatter(rng: np.random.Generator, noise: str, rows: pd.DataFrame) -> pd.Series:
    if noise != ONE_SIDE:
        return pd.Series(NOISES[noise](rng, (len(rows),)))
    modes, quiet = (NOISES[name](rng, (len(rows),)) for name in ("two modes of one side", "normal"))
    return pd.Series(np.where(rows["implementation"] == "two_copy", modes, 0.25 * quiet))


def n_named(noise: str, n_runs: int, seed: int) -> int:
    """Return in how many of these runs some condition names a violation."""
    rng = np.random.default_rng([seed, *noise.encode()])
    runs = (unexpected_facts(default_run(rng, noise)).values() for _ in range(n_runs))
    return sum(any(found["violations"] for found in run) for run in runs)


@dataclass(frozen=True, slots=True)
class Named:
    """The share of runs with one noise (0 to 1) in which some condition names a violation."""

    noise: str
    n_runs: int
    share: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the results, a row of CSV each."""
    given = parser(__doc__, 200).parse_args(arguments)
    print_rows(
        Named(noise, given.runs, n_named(noise, given.runs, given.seed) / given.runs)
        for noise in KINDS
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
