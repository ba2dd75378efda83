"""Question 6: what was unexpected. Every expectation tested, violations ranked."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from copycost.analysis.checks import Check
from copycost.analysis.condition_view import View, largest_block
from copycost.analysis.expectations import EXPECTATIONS, Expectation
from copycost.analysis.explained import explain_cases
from copycost.analysis.json_values import Facts
from copycost.analysis.ratio_facts import ratio_facts, ratio_sign
from copycost.stats.ratios import Ratio, holm, paired_ratio
from copycost.stats.selection import simultaneous_ratio


def unexpected_facts(view: View) -> Facts:
    """Return how each expectation fared, and the violations.

    Keys
    ----
    verdict
        ``violated``, ``none_violated`` or ``not_tested``.
    expectations
        Each with n_tested, n_held (the ratio lies on the expected side), n_open (no difference
        seen), n_violated, n_sure (violations that stand after Holm's correction for the number of
        tests of this expectation), and of a violation: least, least_shown, strongest, explained
        (None or False where there is none). `least` is the factor by which it is violated at
        least, as a mean over all its comparisons (those that hold count as 1; see
        `_least_violation`), `least_shown` whether that is any. `strongest` is the case surely
        furthest on the wrong side, with an interval that allows for its having been picked.
        `explained` is what the ratios consist of that stand against it (see
        `copycost.analysis.explained`), None where none does or they are no ratios of throughputs.
    violations
        The violated ones: first those with a case that stands after correction, then those with
        cases that only stand alone, then those observed once; within each, those that are violated
        by most, at least, over all their comparisons, then those of the largest share.
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


@dataclass(frozen=True, slots=True)
class _Broken:
    """A comparison that went against an expectation; `sure` after Holm's correction."""

    check: Check
    sure: bool


def _verdict(tested: Sequence[Facts], violations: Sequence[Facts]) -> str:
    if not tested:
        return "not_tested"
    return "violated" if violations else "none_violated"


def _test(view: View, expectation: Expectation) -> Facts:
    bad = 1 if expectation.violated_by == "above" else -1
    checks = [check for check in expectation.checks(view) if check.ratio.n_pairs]
    signs = [ratio_sign(check.ratio) for check in checks]
    corrected = holm(np.array([check.ratio.p_value for check in checks]))
    confidence = view.settings.confidence
    broken = [
        _Broken(check, bool(p_value < 1.0 - confidence))
        for check, sign, p_value in zip(checks, signs, corrected, strict=True)
        if sign == bad
    ]
    return {
        "id": expectation.id,
        "statement": expectation.statement.format(whom="the sender " if view.sender_only else ""),
        "because": expectation.because,
        "quantity": expectation.quantity,
        "violated_by": expectation.violated_by,
        "n_tested": len(checks),
        "n_held": sum(sign == -bad for sign in signs),
        "n_open": signs.count(0),
        "n_violated": len(broken),
        "n_sure": sum(one.sure for one in broken),
        "observed_once": any(check.ratio.n_pairs == 1 for check in checks),
    } | _violation(view, checks, broken, bad)


def _violation(
    view: View, checks: Sequence[Check], broken: Sequence[_Broken], bad: int
) -> dict[str, Facts | float | None]:
    if not broken:
        return {"least": None, "least_shown": False, "strongest": None, "explained": None}
    least = _least_violation(checks, bad, view.settings.confidence)
    return {
        "least": math.exp(bad * least),
        "least_shown": least > 0.0,
        "strongest": _strongest(broken, len(checks), bad, view.settings.confidence),
        "explained": explain_cases(view, [one.check.where for one in broken if one.sure]),
    }


def _least_violation(checks: Sequence[Check], bad: int, confidence: float) -> float:
    """Return how far, at least, the ratios lie on the wrong side, as a mean of logarithms.

    Ratios on the right side count as 0. Of two bounds, each with half of the error, the larger: the
    mean of all single cases' bounds, corrected for their number; and the bound of the mean over all
    cases, round by round, which shows what many cases have in common that none shows alone.
    """
    half = 1.0 - (1.0 - confidence) / 2.0
    singles = [simultaneous_ratio(check.logs, len(checks), half) for check in checks]
    mean_of_bounds = sum((max(0.0, _bound(one, bad)) for one in singles), 0.0) / len(checks)
    logs = [check.logs for check in checks]
    width = max(len(one) for one in logs)
    table = np.array([np.pad(one, (0, width - len(one)), constant_values=np.nan) for one in logs])
    complete = largest_block(table)
    whole = paired_ratio(complete.mean(axis=0) if complete.size else np.empty(0), half)
    share = len(complete) / len(checks)
    return max(mean_of_bounds, share * _bound(whole, bad), 0.0)


def _bound(found: Ratio, bad: int) -> float:
    """Return the end of the interval nearest to what was expected, above 0 on the wrong side."""
    end = found.low if bad > 0 else found.high
    return bad * math.log(end) if 0.0 < end < math.inf else -math.inf


def _strongest(broken: Sequence[_Broken], n_checks: int, bad: int, confidence: float) -> Facts:
    def certain(one: _Broken) -> tuple[bool, float, float]:
        ratio = simultaneous_ratio(one.check.logs, n_checks, confidence)
        return one.sure, _bound(ratio, bad), bad * math.log(ratio.value)

    found = max(broken, key=certain)
    check = found.check
    ratio = simultaneous_ratio(check.logs, n_checks, confidence)
    return {"where": check.where, "sure": found.sure} | ratio_facts(ratio)


def _rank(result: Facts) -> tuple[int, float, float]:
    strongest = result["strongest"]
    level = 2 if strongest["once"] else (0 if result["n_sure"] else 1)
    return level, -abs(math.log(result["least"])), -result["n_violated"] / result["n_tested"]
