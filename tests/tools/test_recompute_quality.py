import math
from pathlib import Path

import pandas as pd
import pytest

from tools.recompute import estimates
from tools.recompute.quality import Quality, limit_in

PAIR = "condition,metric,implementation,baseline\nveth,throughput_bits_per_s,one_copy,two_copy\n"


class Measured:
    """A run of four rounds in which one_copy is twice as fast, but for one round with steal."""

    def __init__(self, results: Path) -> None:
        self.results = results
        (results / "tables").mkdir()
        (results / "tables/ratios.csv").write_text(PAIR, encoding="utf-8")

    def measured(self, _condition: str) -> pd.DataFrame:
        rates = {"two_copy": [1.0, 1.01, 0.99, 1.0], "one_copy": [2.0, 2.02, 0.2, 2.01]}
        rows = [
            (name, 4096, 1, rep, rate, "steal" if rate < 0.5 else "", 0.5, 0, 1e9)
            for name, row in rates.items()
            for rep, rate in enumerate(row, start=1)
        ]
        columns = ["implementation", "msg_bytes", "n_threads", "rep", "throughput_bits_per_s"]
        others = ["warned", "first_half_share", "tcp_retransmits", "received_bytes"]
        return pd.DataFrame(rows, columns=[*columns, *others])

    def ratio(self, logs: pd.Series) -> estimates.Estimate:
        return estimates.ratio(logs.to_numpy(float), 0.95)


@pytest.fixture
def quality(tmp_path: Path) -> Quality:
    """Its checks."""
    return Quality(Measured(tmp_path), "veth")  # type: ignore[arg-type]


def test_a_check_flags_the_cell_and_the_repetition(quality: Quality) -> None:
    steal = "Repetitions with CPU time stolen"
    assert quality.broken[steal].to_dict() == {
        ("one_copy", 4096, 1): True,
        ("two_copy", 4096, 1): False,
    }
    assert quality.rows.loc[quality.flagged[steal], "rep"].tolist() == [3]
    # of a cell that spreads, the one furthest from its median
    spread = quality.flagged["Spread of the throughput over the rounds"]
    assert quality.rows.loc[spread, "rep"].tolist() == [3]
    assert quality.clean == 1


def test_without_what_is_flagged_a_verdict_changes(quality: Quality) -> None:
    found = quality.without(quality.warned)
    assert (found.compared, found.changed, found.reversed) == (1, 1, 0)
    assert (found.once, found.none) == (0, 0)
    assert quality.without(quality.rows["rep"] > 1).once == 1
    assert quality.without(quality.rows["rep"] > 0).none == 1


def test_what_was_not_counted_breaks_no_bound(quality: Quality) -> None:
    running = "Share of the window that a counter ran"
    assert math.isnan(quality.values[running].iloc[0])
    assert not quality.broken[running].any()


@pytest.mark.parametrize(
    ("text", "limit"),
    [("over 10 %", ("over", 0.1)), ("under 50 %", ("under", 0.5)), ("1 or more", ("or more", 1.0))],
)
def test_a_bound_is_read(text: str, limit: tuple[str, float]) -> None:
    assert limit_in(text) == limit
