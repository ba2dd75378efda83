"""Question 3: how threads and contention for the caches interact."""

from collections.abc import Callable
from itertools import pairwise

from copycost.analysis.condition_view import View
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.placement import placement_of
from copycost.analysis.quantities import growth_over_threads
from copycost.analysis.ratio_facts import ratio_facts, ratio_sign

_GROWING: dict[str, Callable[[View], str]] = {
    "switches": lambda view: "context_switches_per_message",
    "cost": lambda view: view.cost_column,
    "l1d": lambda view: view.per_byte("l1d_load_misses"),
    "llc": lambda view: view.per_byte("llc_load_misses"),
}
"""The quantities whose growth with the threads the evidence tells over all implementations."""


def contention_facts(view: View) -> Facts:
    """Return how throughput changes from thread count to thread count.

    Keys
    ----
    verdict
        The shape that all implementations share, else ``differs``; ``one_thread_count`` or
        ``not_measured`` where there is nothing to compare.
    shapes
        Shape and its implementations: ``gains`` (every step gains), ``gains_then_flat``,
        ``gains_then_falls``, ``gains_somewhere`` (no step loses), ``falls`` (no step gains, one at
        least loses), ``flat`` (no step shows a difference), ``mixed``. With the number of steps
        between fewest and most, and gains_up_to (None where the implementations differ in it).
    by_implementation
        Per implementation its shape, its steps and the whole way from the fewest threads of the
        grid to the most; each a ratio over the sizes that have both.
    wholes, lowest, highest
        The whole ways that were measured, and those with the lowest and the highest ratio (None
        where there is no whole way).
    service, shortest, longest
        The same of the mean service time.
    apart
        Per quantity that grows, or not, over all implementations together (see `_GROWING`): the
        implementations for which that is certainly the other way, each with its own ratio.
    n_cpus
        CPUs that sending and receiving threads share; None where they were not pinned.
    """
    rows = [_scaling(view, name) for name in view.implementations if view.has(name)]
    rows = [row for row in rows if row["steps"]]
    placement = placement_of(view)
    shapes: dict[str, list[Facts]] = {}
    for row in rows:
        shapes.setdefault(row["shape"], []).append(row)
    wholes = [
        {"implementation": row["implementation"]} | row["whole"]
        for row in rows
        if row["whole"]["n"]
    ]
    service = _service_growth(view)
    return {
        "verdict": _verdict(view, list(shapes)),
        "shapes": [_shape_facts(shape, members) for shape, members in shapes.items()],
        "by_implementation": rows,
        "observed_once": any(step["once"] for row in rows for step in row["steps"]),
        "n_rounds": min((step["n"] for row in rows for step in row["steps"]), default=0),
        "n_cpus": placement.n_cpus if placement else None,
        "fewest": view.n_threads[0],
        "most": view.n_threads[-1],
        "apart": {name: _apart(view, metric(view)) for name, metric in _GROWING.items()},
        "wholes": wholes,
        "lowest": min(wholes, key=_value, default=None),
        "highest": max(wholes, key=_value, default=None),
        "service": service,
        "shortest": min(service, key=_value, default=None),
        "longest": max(service, key=_value, default=None),
    }


def _value(fact: Facts) -> float:
    return float(fact["value"])


def _shape_facts(shape: str, rows: list[Facts]) -> Facts:
    turns = {row["gains_up_to"] for row in rows}
    return {
        "shape": shape,
        "implementations": [row["implementation"] for row in rows],
        "n_steps": len(rows[0]["steps"]),
        "fewest": rows[0]["fewest"],
        "most": rows[0]["most"],
        "gains_up_to": turns.pop() if len(turns) == 1 else None,
    }


def _scaling(view: View, implementation: str) -> Facts:
    measured = sorted({int(value) for value in view.of(implementation)["n_threads"]})
    steps = []
    for fewer, more in pairwise(measured):
        found = view.pooled(view.thread_logs(THROUGHPUT, implementation, more, fewer))
        if found.n_pairs:
            steps.append({"fewer": fewer, "more": more} | ratio_facts(found))
    if not steps:
        return {"implementation": implementation, "steps": []}
    fewest, most = view.n_threads[0], view.n_threads[-1]
    whole = view.pooled(view.thread_logs(THROUGHPUT, implementation, most, fewest))
    signs = [step["sign"] for step in steps]
    n_gaining = next((i for i, sign in enumerate(signs) if sign <= 0), len(signs))
    return {
        "implementation": implementation,
        "shape": _shape(signs),
        "steps": steps,
        "gains_up_to": measured[n_gaining],
        "fewest": measured[0],
        "most": measured[-1],
        "whole": ratio_facts(whole),
    }


def _shape(signs: list[int]) -> str:
    if len(set(signs)) == 1:
        return {1: "gains", 0: "flat", -1: "falls"}[signs[0]]
    if 1 not in signs:
        return "falls"
    first_other = next(i for i, sign in enumerate(signs) if sign <= 0)
    gains_first = first_other > 0 and 1 not in signs[first_other:]
    if -1 not in signs:
        return "gains_then_flat" if gains_first else "gains_somewhere"
    return "gains_then_falls" if gains_first else "mixed"


def _verdict(view: View, shapes: list[str]) -> str:
    if not view.is_measured:
        return "not_measured"
    if not shapes:
        return "one_thread_count"
    return shapes[0] if len(shapes) == 1 else "differs"


def _apart(view: View, metric: str) -> list[Facts]:
    """Return the implementations that go the other way than all of them together."""
    few, many = view.n_threads[0], view.n_threads[-1]
    if few == many or not view.counted(metric):
        return []
    ways = {
        name: view.pooled(view.thread_logs(metric, name, many, few))
        for name in view.implementations
        if view.has(name)
    }
    whole = growth_over_threads(view, metric)
    sign = ratio_sign(whole) if whole else None
    return [
        {"implementation": name} | ratio_facts(own)
        for name, own in ways.items()
        if own.n_pairs > 1 and ratio_sign(own) not in (sign, 0, None)
    ]


def _service_growth(view: View) -> list[Facts]:
    """Return how the mean service time grows from the fewest threads to the most."""
    facts = []
    for name in view.implementations:
        if view.has(name) and len(view.n_threads) > 1:
            logs = view.thread_logs("service_mean_ns", name, view.n_threads[-1], view.n_threads[0])
            found = view.pooled(logs)
            if found.n_pairs:
                facts.append({"implementation": name} | ratio_facts(found))
    return facts
