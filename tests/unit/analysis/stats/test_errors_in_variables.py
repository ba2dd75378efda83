"""York's line: against published values, against its limits, and by simulation."""

import numpy as np
import pytest

from copycost.analysis.stats.errors_in_variables import Errors, fit_line, pooled_errors

# K. Pearson's data with D. York's weights, the usual test of such fits; the solution is that of
# York et al. (2004), table II
X = np.array([0.0, 0.9, 1.8, 2.6, 3.3, 4.4, 5.2, 6.1, 6.5, 7.4])
Y = np.array([5.9, 5.4, 4.4, 4.6, 3.5, 3.7, 2.8, 2.8, 2.4, 1.5])
WEIGHT_X = np.array([1000.0, 1000, 500, 800, 200, 80, 60, 20, 1.8, 1.0])
WEIGHT_Y = np.array([1.0, 1.8, 4, 8, 20, 20, 70, 70, 100, 500])


def test_the_published_solution_is_found() -> None:
    line = fit_line(X, Y, Errors(WEIGHT_X**-0.5, WEIGHT_Y**-0.5, 0.0, 1000), 0.95)
    assert line.slope == pytest.approx(-0.480533407, abs=1e-8)
    assert line.intercept == pytest.approx(5.47991022, abs=1e-7)
    # its reduced chi-square is 1.483, so the misfit decides at 8 degrees of freedom
    widened = 2.3060 * (1.4833**0.5)
    assert line.slope_high - line.slope == pytest.approx(widened * 0.0579850, rel=1e-3)
    assert line.intercept_high - line.intercept == pytest.approx(widened * 0.294970, rel=1e-3)


@pytest.mark.parametrize(("n", "reps"), [(4, 3), (6, 3), (10, 10)])
def test_intervals_hold_the_truth(n: int, reps: int) -> None:
    rng = np.random.default_rng(3)
    true = np.linspace(100 / n, 100, n)[:, None]
    held = 0
    for _ in range(300):
        xs = true + rng.normal(0, 2.0, (n, reps))
        ys = (0.3 * true + 0.2) * (1 + rng.normal(0, 0.03, (n, reps)))
        line = fit_line(xs.mean(axis=1), ys.mean(axis=1), pooled_errors([*xs], [*ys]), 0.95)
        held += line.slope_low <= 0.3 <= line.slope_high
    assert 0.93 <= held / 300 <= 1.0
