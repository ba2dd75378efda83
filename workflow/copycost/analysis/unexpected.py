"""Question 6: what was unexpected. Every expectation tested."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from copycost.analysis.condition_view import View
from copycost.analysis.expectations import EXPECTATIONS, Check, Expectation
from copycost.analysis.finding import MEAN, Finding
from copycost.analysis.json_values import Facts
from copycost.analysis.ratio_facts import estimate_of
from copycost.analysis.stats.ratios import Direction, Ratio, family_ratios, standard_error

_Judged: TypeAlias = tuple[Check, Ratio]
"""A comparison, and its ratio after correction for all comparisons of all conditions."""


def unexpected_findings(views: Mapping[str, View]) -> list[Finding]:
    """Return, by condition, how each expectation fared that could be tested.

    All are verdicts after Holm's correction for the tests of all expectations and conditions
    together. Of one that is violated, or contradicted by what was observed once, the estimate is
    that of the strongest case, with the interval that its verdict rests on: the case surely
    furthest on the wrong side. It is a reason, too, which says what it compares; another is by how
    much all comparisons contradict it, as a mean (`MEAN`).
    """
    checks = {
        (name, expectation.id): [*expectation.checks(view)]
        for name, view in views.items()
        for expectation in EXPECTATIONS
    }
    confidence = max((view.settings.confidence for view in views.values()), default=0.0)
    every = [check for group in checks.values() for check in group]
    least = [error for group in checks.values() for error in [_error(group)] * len(group)]
    ratios = family_ratios([check.logs for check in every], confidence, least)
    judged = zip(every, ratios, strict=True)
    cases = {key: [next(judged) for _ in found] for key, found in checks.items()}
    return [
        _test(view, one, cases[name, one.id])
        for name, view in views.items()
        for one in EXPECTATIONS
        if cases[name, one.id]
    ]


def _error(group: Sequence[Check]) -> float:
    """Return the median of the standard errors of an expectation's comparisons.

    A few rounds may agree by chance, above all where one side has two modes, and Student's t would
    then be sure of anything. So none is taken to be surer than half of its expectation's are.
    """
    known = [check.logs[np.isfinite(check.logs)] for check in group]
    errors = [standard_error(logs) for logs in known if logs.size > 1]
    return float(np.median(errors)) if errors else 0.0


def _test(view: View, expectation: Expectation, cases: Sequence[_Judged]) -> Finding:
    bad = 1 if expectation.violated_by == "above" else -1
    broken = [(check, ratio) for check, ratio in cases if ratio.sign == bad]
    found = Finding(
        question="expectation",
        condition=view.name,
        subject=expectation.id,
        reference=expectation.statement.format(whom="the sender " if view.sender_only else ""),
        quantity=expectation.quantity,
        verdict="not violated",
        n_cells=len(cases),
        n_better=sum(ratio.sign == -bad for _, ratio in cases),
        n_worse=len(broken),
        correction="Holm, over all expectations and conditions",
    )
    if not broken:
        return found

    def certain(case: _Judged) -> tuple[float, float]:
        end = case[1].low if bad > 0 else case[1].high
        bound = bad * math.log(end) if 0.0 < end < math.inf else -math.inf
        return bound, bad * math.log(case[1].value)

    strongest, ratio = max(broken, key=certain)
    told: Facts = {
        "verdict": "once" if ratio.direction is Direction.OBSERVED_ONCE else "violated",
        "msg_bytes": strongest.msg_bytes,
        "n_threads": strongest.n_threads,
        **estimate_of(ratio),
    }
    case = replace(
        found,
        n_cells=1,
        n_better=0,
        n_worse=1,
        subject=strongest.implementation,
        reference=strongest.baseline,
        reference_condition=strongest.hot,
        **told,
    )
    mean = sum(abs(math.log(one.value)) for _, one in broken) / len(cases)
    violation = replace(found, quantity=MEAN, verdict=told["verdict"], correction="none",
                        estimate=math.exp(mean))  # fmt: skip
    return replace(found, reasons=(case, violation), **told)
