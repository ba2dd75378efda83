"""Question 6: what was unexpected. Every expectation tested, violations ranked."""

import math
from collections.abc import Sequence

import numpy as np

from copycost.analysis.checks import Check
from copycost.analysis.condition_view import View
from copycost.analysis.expectations import EXPECTATIONS, Expectation
from copycost.analysis.json_values import Facts
from copycost.analysis.ratio_facts import ratio_facts, ratio_sign
from copycost.stats.ratios import Ratio, holm


def unexpected_facts(view: View) -> Facts:
    """Return how each expectation fared, and the violations.

    Keys
    ----
    verdict
        ``violated``, ``none_violated`` or ``not_tested``.
    expectations
        Each with n_tested, n_held (the ratio lies on the expected side), n_open (no difference
        seen), n_violated, n_sure (violations that hold after Holm's correction for the number of
        tests of this expectation).
    violations
        The violated ones with their strongest case: first those that hold after correction, then
        those of one cell's interval alone, then those observed once; within each, by the end of
        the interval nearer to 1, so that a large but vague effect does not outrank a sure one.
    """
    results = [_test(view, expectation) for expectation in EXPECTATIONS]
    tested = [result for result in results if result["n_tested"]]
    violations = sorted((result for result in tested if result["n_violated"]), key=_rank)
    return {
        "verdict": _verdict(tested, violations),
        "expectations": results,
        "violations": violations,
        "n_expectations": len(tested),
        "n_untested": len(results) - len(tested),
        "n_checks": sum(result["n_tested"] for result in tested),
        "observed_once": any(result["observed_once"] for result in tested),
    }


def _verdict(tested: Sequence[Facts], violations: Sequence[Facts]) -> str:
    if not tested:
        return "not_tested"
    return "violated" if violations else "none_violated"


def _test(view: View, expectation: Expectation) -> Facts:
    bad = 1 if expectation.violated_by == "above" else -1
    cases = [(check, check.ratio) for check in expectation.checks(view) if check.ratio.n_pairs]
    signs = [ratio_sign(found) for _, found in cases]
    corrected = holm(np.array([found.p_value for _, found in cases]))
    alpha = 1.0 - view.settings.confidence
    broken = [
        (check, found, bool(p_value < alpha))
        for (check, found), sign, p_value in zip(cases, signs, corrected, strict=True)
        if sign == bad
    ]
    return {
        "id": expectation.id,
        "statement": expectation.statement.format(whom="the sender " if view.sender_only else ""),
        "because": expectation.because,
        "quantity": expectation.quantity,
        "violated_by": expectation.violated_by,
        "n_tested": len(cases),
        "n_held": sum(sign == -bad for sign in signs),
        "n_open": signs.count(0),
        "n_violated": len(broken),
        "n_sure": sum(sure for _, _, sure in broken),
        "observed_once": any(found.n_pairs == 1 for _, found in cases),
        "strongest": _strongest(broken),
    }


def _strongest(broken: Sequence[tuple[Check, Ratio, bool]]) -> Facts | None:
    if not broken:
        return None
    check, found, sure = max(broken, key=lambda case: (case[2], _least_effect(case[1])))
    return {
        "where": check.where,
        "sure": sure,
        "least_effect": _least_effect(found),
    } | ratio_facts(found)


def _least_effect(found: Ratio) -> float:
    """Return the smallest effect that the interval allows, as a distance of logarithms from 0."""
    if math.isnan(found.low) and math.isnan(found.high):
        return abs(math.log(found.value))
    # Of an interval with one end only, the other is far away.
    above = math.log(found.low) if found.low > 0.0 else -math.inf
    below = -math.log(found.high) if found.high > 0.0 else -math.inf
    return max(above, below, 0.0)


def _rank(result: Facts) -> tuple[int, float]:
    strongest = result["strongest"]
    level = 2 if strongest["once"] else (0 if strongest["sure"] else 1)
    return level, -strongest["least_effect"]
