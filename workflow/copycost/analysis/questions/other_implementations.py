"""The other ways to send, compared with two_copy and with what differs in one thing only."""

from collections.abc import Sequence

from copycost.analysis.condition_view import View
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.analysis.pooled_ratio import together
from copycost.analysis.quantities import URING_ZERO, ZERO
from copycost.config.capabilities import split_implementation


def other_ways_facts(view: View, names: Sequence[str]) -> Facts:
    """Return what there is to say of the implementations other than those of the questions.

    Keys
    ----
    costs
        By implementation that was measured: the ratio of its cost of a byte to that of two_copy
        over the cells together (see `copycost.analysis.pooled_ratio`); None where not measured.
    pairs
        Comparisons of one thing only, io_uring's zero-copy with MSG_ZEROCOPY and many messages per
        system call with one: implementation, baseline, and the ratio of the throughputs over the
        cells together.
    """
    found = [name for name in names if view.has(name)]
    pairs = [(URING_ZERO, ZERO)] if view.has(URING_ZERO, ZERO) else []
    for name in found:
        strategy, batch = split_implementation(name)
        if batch > 1 and view.has(strategy) and strategy != BASELINE:
            pairs.append((name, strategy))
    return {
        "costs": {name: _ratio(view, view.cost_column, name, BASELINE) for name in found},
        "pairs": [
            {"implementation": name, "baseline": baseline}
            | {"throughput": _ratio(view, THROUGHPUT, name, baseline)}
            for name, baseline in pairs
        ],
    }


def _ratio(view: View, metric: str, name: str, baseline: str) -> Facts | None:
    """Return a ratio over the cells together, and whether these contradict each other."""
    if not view.has(name, baseline) or not view.counted(metric):
        return None
    return together(view, view.logs(metric, name, baseline))
