"""What a difference in throughput consists of, and that nothing is left over."""

import pandas as pd
import pytest
from analysed import inputs_of
from synthetic import Run, make_cells

from copycost.analysis.condition_view import View
from copycost.analysis.throughput_factors import explain_pair, explain_threads
from copycost.studies.streams.facts import views_of

pytestmark = pytest.mark.slow

GRID = {"msg_bytes": (1024, 65536), "n_threads": (1, 2), "repetitions": 5}
FACTORS = {"cost": "cpu_ns_per_byte", "use": "cpus_in_use"}
CELLS = [(1024, 1), (65536, 2)]


def view_of(run: Run, cells: pd.DataFrame | None = None) -> View:
    return next(iter(views_of(inputs_of(run, cells)).values()))


def busier(factor: float) -> pd.DataFrame:
    """Return cells in which zero_copy has half the throughput at so many times the CPU time."""
    run = Run(**GRID, noise=0.01, log_ratio=lambda name, size, n: -0.7 * (name == "zero_copy"))
    cells = make_cells(run)
    columns = [f"{side}_cpu_ns_per_byte" for side in ("sender", "receiver", "both")]
    cells.loc[cells["implementation"] == "zero_copy", columns] *= factor
    return cells


@pytest.mark.parametrize(
    ("factor", "relation", "names"),
    [
        (1.0, "alone", ["cost", "use"]),
        (0.8, "both", ["cost", "use"]),
        (0.5, "alone", ["use", "cost"]),
        (0.6, "both", ["use", "cost"]),
        (1.2, "against", ["cost", "use"]),
    ],
)
def test_largest_part_comes_first(factor: float, relation: str, names: list[str]) -> None:
    """Half the throughput at 0.8 times the CPU time: 1.6 times the cost, 0.8 times the use."""
    found = explain_pair(view_of(Run(**GRID), busier(factor)), "zero_copy", "two_copy", CELLS)
    assert found is not None
    assert [*found.ratios][1:] == [FACTORS[name] for name in names]
    assert found.relation == relation


def test_gain_with_threads_is_explained_by_what_was_measured() -> None:
    """CPUs as busy before as after: no gaps were filled, each byte took less."""
    cells = make_cells(Run(**GRID, noise=0.005))
    for side in ("sender", "receiver"):
        busy_ns = 0.98e9 * cells["window_s"]
        cells[f"{side}_cpu_ns_per_byte"] = busy_ns / cells["received_bytes"]
    found = explain_threads(view_of(Run(**GRID), cells), "two_copy", 2, 1, [1024, 65536])
    assert found is not None
    assert [*found.ratios][1:] == [FACTORS["cost"], FACTORS["use"]]
    assert found.relation == "alone"
    assert found.ratios[FACTORS["cost"]].value == pytest.approx(1 / 1.6, rel=0.02)
