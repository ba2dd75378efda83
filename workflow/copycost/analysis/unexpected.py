"""Question 6: what was unexpected. Every expectation tested, violations ranked."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from copycost.analysis.condition_view import View
from copycost.analysis.expectations import EXPECTATIONS, Check, Expectation
from copycost.analysis.json_values import Facts
from copycost.analysis.ratio_facts import ratio_facts
from copycost.stats.ratios import Ratio, holm, paired_ratio, simultaneous_ratio, standard_error


@dataclass(frozen=True, slots=True)
class _Judged:
    """A comparison with its verdict after correction for all comparisons of all conditions."""

    check: Check
    sign: int
    """1 above, -1 below, 0 no difference seen; of one round, by the value alone."""
    corrected: Ratio
    """Its ratio with the interval that the verdict rests on."""


_Cases: TypeAlias = Sequence[_Judged]


def unexpected_facts(views: Mapping[str, View]) -> dict[str, Facts]:
    """Return, by condition, how each expectation fared, and the violations.

    Keys
    ----
    expectations: Each with n_tested, n_held (the ratio lies on the expected side), n_open (no
        difference seen), n_violated, and of a violation the strongest (None where there is none).
        All are verdicts after Holm's correction for the tests of all expectations and conditions
        together. `strongest` is the case surely furthest on the wrong side, with the interval that
        its verdict rests on.
    violations: The violated ones: those observed once last; then those first that are violated by
        most, as a mean over all their comparisons.
    """
    checks = {
        (name, expectation.id): [one for one in expectation.checks(view) if one.ratio.n_pairs]
        for name, view in views.items()
        for expectation in EXPECTATIONS
    }
    confidences = {view.settings.confidence for view in views.values()}
    judged = iter(_judge(list(checks.values()), max(confidences, default=0.0)))
    cases = {key: [next(judged) for _ in found] for key, found in checks.items()}
    facts: dict[str, Facts] = {}
    for name, view in views.items():
        results = [_test(view, one, cases[name, one.id]) for one in EXPECTATIONS]
        violations = sorted((one for one in results if one["n_violated"]), key=_rank)
        facts[name] = {"expectations": results, "violations": violations}
    return facts


def _judge(groups: Sequence[Sequence[Check]], confidence: float) -> Iterator[_Judged]:
    """Yield all comparisons with their verdicts, in order.

    A few rounds may agree by chance, above all where one side has two modes, and Student's t would
    then be sure of anything. So none is taken to be surer than half of its expectation's are.
    """
    every = [(check, least) for group in groups for least in [_error(group)] for check in group]
    ratios = [paired_ratio(check.logs, confidence, least) for check, least in every]
    p_values = np.array([ratio.p_value for ratio in ratios])
    stands = holm(p_values) < 1.0 - confidence
    ascending = np.sort(p_values[np.isfinite(p_values)])
    left = np.maximum(ascending.size - np.searchsorted(ascending, p_values), 1)
    for (check, least), is_shown, n in zip(every, stands, left, strict=True):
        is_told = is_shown or check.ratio.n_pairs == 1
        sign = check.ratio.sign if is_told else 0
        yield _Judged(check, sign, simultaneous_ratio(check.logs, int(n), confidence, least))


def _error(group: Sequence[Check]) -> float:
    known = [check.logs[np.isfinite(check.logs)] for check in group]
    errors = [standard_error(logs) for logs in known if logs.size > 1]
    return float(np.median(errors)) if errors else 0.0


def _test(view: View, expectation: Expectation, cases: _Cases) -> Facts:
    bad = 1 if expectation.violated_by == "above" else -1
    broken = [case for case in cases if case.sign == bad]
    return {
        "id": expectation.id,
        "statement": expectation.statement.format(whom="the sender " if view.sender_only else ""),
        "quantity": expectation.quantity,
        "n_tested": len(cases),
        "n_held": sum(case.sign == -bad for case in cases),
        "n_open": sum(case.sign == 0 for case in cases),
        "n_violated": len(broken),
        "mean": sum(abs(math.log(case.check.ratio.value)) for case in broken) / max(len(cases), 1),
        "strongest": _strongest(broken, bad) if broken else None,
    }


def _strongest(broken: _Cases, bad: int) -> Facts:
    def certain(one: _Judged) -> tuple[float, float]:
        end = one.corrected.low if bad > 0 else one.corrected.high
        bound = bad * math.log(end) if 0.0 < end < math.inf else -math.inf
        return bound, bad * math.log(one.corrected.value)

    found = max(broken, key=certain)
    return {"where": found.check.where} | ratio_facts(found.corrected)


def _rank(result: Facts) -> tuple[bool, float, float]:
    share = result["n_violated"] / result["n_tested"]
    return result["strongest"]["once"], -result["mean"], -share
