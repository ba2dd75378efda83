"""How far the reference moved within a run, which is what absolute figures have and ratios lack."""

import numpy as np
import pandas as pd
import pytest

from copycost.analysis.control import drift_of


def rows(between: float, within: float, n: int = 6) -> pd.DataFrame:
    """Return repetitions of two ways beside the same reference, at forty sizes."""
    rng = np.random.default_rng(1)
    table = []
    for size in range(40):
        for way in ("one_copy", "two_copy"):
            level = rng.normal(0.0, between)
            table += [
                {
                    "msg_bytes": size,
                    "n_threads": 1,
                    "implementation": way,
                    "reference_throughput_bits_per_s": np.exp(level + rng.normal(0.0, within)),
                }
                for _ in range(n)
            ]
    return pd.DataFrame(table)


def test_what_moves_between_cells_is_told_apart_from_what_moves_within_one() -> None:
    found = drift_of({"veth": rows(0.3, 0.05)})
    assert found is not None
    assert found["within"] == pytest.approx(0.05, rel=0.15)
    assert found["between"] == pytest.approx(0.3, rel=0.25)
    steady = drift_of({"veth": rows(0.0, 0.05)})
    assert steady is not None
    assert steady["between"] < 0.02


def test_without_a_reference_or_a_second_way_there_is_nothing_to_tell() -> None:
    alone = rows(0.3, 0.05)
    assert drift_of({"veth": alone[alone["implementation"] == "one_copy"]}) is None
    assert drift_of({"wire": alone.drop(columns="reference_throughput_bits_per_s")}) is None
    assert drift_of({}) is None
