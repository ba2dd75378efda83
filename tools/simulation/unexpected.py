"""How often question 6 names a violation in runs without any effect."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.metrics import THROUGHPUT, CostMetric
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.analysis.unexpected import unexpected_findings
from copycost.config.conditions import COLD, HOT, Condition
from tools.simulation.noise import NOISES
from tools.simulation.truths import DATAGRAM_SIZES, STREAM_SIZES

SPREAD = 0.05
"""Standard deviation of each logarithm from round to round."""
N_ROUNDS = 8
WAYS = ("two_copy", "one_copy", "zero_copy")
ONE_SIDE = "two modes of two_copy alone"
"""A comparison's shape shows in full where its other side is quiet."""
KINDS = ("normal", "heavy tails (t3)", "two modes of one side", ONE_SIDE)

_COST = CostMetric("cpu_ns", "CPU time", "ns", "cycles_not_counted")


def default_run(rng: np.random.Generator, noise: str) -> dict[str, View]:
    """Return the conditions of a default run in which all ways, sizes and threads are equal."""
    veth = _view("veth", HOT, rng, noise)
    sink, cold = (_view("sink", working_set, rng, noise) for working_set in (HOT, COLD))
    return {view.name: view for view in (veth, sink, replace(cold, hot=sink))}


def _view(testbed: str, working_set: str, rng: np.random.Generator, noise: str) -> View:
    condition, is_sink = Condition(testbed, working_set, "recv"), testbed == "sink"
    sizes, threads = (DATAGRAM_SIZES, (1,)) if is_sink else (STREAM_SIZES, (1, 2, 4, 8))
    axes = [WAYS, sizes, threads, range(1, N_ROUNDS + 1)]
    names = ["implementation", "msg_bytes", "n_threads", "rep"]
    rows = pd.MultiIndex.from_product(axes, names=names).to_frame(index=False)
    work, wait = (SPREAD * _scatter(rng, noise, rows) for _ in range(2))
    rows = rows.assign(
        condition=condition.slug,
        status="measured",
        zc_completed=1000.0,
        zc_copied=0.0 if is_sink else 1000.0,
        sender_cpus="0",
        receiver_cpus="1",
        user_mode_only=True,
    )
    rows[THROUGHPUT] = 1e10 * np.exp(work + wait)
    for side, share in (("sender", 0.6), ("receiver", 0.4), ("both", 1.0)):
        rows[f"{side}_cpu_ns_per_byte"] = share * np.exp(-work)
    return View(
        condition, is_sink, WAYS, sizes, threads, rows=rows, summary=rows[:0], ratios=rows[:0],
        settings=StatisticsSettings(seed=1), cost=_COST, caches={"l2_bytes": 2 << 20},
    )  # fmt: skip


def _scatter(rng: np.random.Generator, noise: str, rows: pd.DataFrame) -> pd.Series:
    if noise != ONE_SIDE:
        return pd.Series(NOISES[noise](rng, (len(rows),)))
    modes, quiet = (NOISES[name](rng, (len(rows),)) for name in ("two modes of one side", "normal"))
    return pd.Series(np.where(rows["implementation"] == "two_copy", modes, 0.25 * quiet))


@dataclass(frozen=True, slots=True)
class Named:
    """The share of runs with one noise (0 to 1) in which some condition names a violation."""

    noise: str
    n_runs: int
    share: float


def simulate(noise: str, n_runs: int, seed: int) -> Named:
    """Return in how many runs with a noise some condition names a violation."""
    rng = np.random.default_rng([seed, *noise.encode()])
    runs = (unexpected_findings(default_run(rng, noise)) for _ in range(n_runs))
    named = sum(any(found.n_worse for found in run) for run in runs)
    return Named(noise, n_runs, named / n_runs)
