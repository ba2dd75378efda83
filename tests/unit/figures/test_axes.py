import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from copycost.figures.axes import scale_of, value_axis


def points(*values: float) -> pd.DataFrame:
    return pd.DataFrame({"value": values, "low": np.nan, "high": np.nan})


@pytest.fixture
def axes() -> Axes:
    return Figure().subplots()


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ((1, 5), "linear"),
        ((0, 5), "linear"),
        ((0.1, 90), "log"),
        ((0, 0.1, 90), "symlog"),
        ((), "linear"),
        ((0, 0), "linear"),
    ],
)
def test_scale_is_linear_for_small_and_logarithmic_for_wide_spreads(
    values: tuple[float, ...], scale: str
) -> None:
    assert scale_of(points(*values)).kind == scale


def test_symlog_axis_labels_zero_and_decades_that_do_not_touch(axes: Axes) -> None:
    value_axis(axes, scale_of(points(0, 0.0003, 9)))
    assert [tick for tick in axes.get_yticks() if tick <= 9] == [0, 0.001, 0.01, 0.1, 1]


@pytest.mark.parametrize("values", [(1, 5), (1, 500), (0, 1, 500)])
def test_strip_at_the_top_stays_free_of_values(axes: Axes, values: tuple[float, ...]) -> None:
    scale = scale_of(points(*values))
    value_axis(axes, scale, strip=0.3)
    height = axes.transAxes.inverted().transform(axes.transData.transform((1, scale.high)))[1]
    assert height == pytest.approx(0.7)
    assert max(values) < scale.high
