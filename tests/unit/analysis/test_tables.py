"""The summary and the ratios: the tables between cells and facts."""

from dataclasses import replace
from pathlib import Path

import pytest
from analysed import facts_of
from synthetic import Run, Udp, make_cells

from copycost.analysis.columns import read_table, write_table
from copycost.analysis.finding import read_finding
from copycost.analysis.metrics import SUMMARISED, THROUGHPUT, choose_cost_metric
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.analysis.tables import findings_table, summarise

RUN = Run(msg_bytes=(1024, 65536), n_threads=(1, 2))


def test_summary_has_a_row_per_cell_and_metric_with_the_median() -> None:
    cells = make_cells(RUN)
    summary = summarise(cells, StatisticsSettings())
    assert len(summary) == 3 * 2 * 2 * len(SUMMARISED)
    cell = "implementation == 'one_copy' and msg_bytes == 65536 and n_threads == 2"
    row, values = summary.query(f"{cell} and metric == @THROUGHPUT").iloc[0], cells.query(cell)
    assert row["median"] == values[THROUGHPUT].median()
    assert row["low"] < row["median"] < row["high"]
    assert row["n"] == 5


@pytest.mark.parametrize(
    ("run", "name", "reason"),
    [
        (Run(counters=True), "cycles", "cycles_counted"),
        (Run(), "cpu_ns", "cycles_not_counted"),
        (Run(counters=True, user_mode_only=True), "cpu_ns", "cycles_user_mode_only"),
        (Run(counters=True, zero_events=("cycles",)), "cpu_ns", "cycles_not_counted"),
    ],
)
def test_cost_metric_is_what_this_host_really_counts(run: Run, name: str, reason: str) -> None:
    cost = choose_cost_metric(make_cells(run))
    assert (cost.name, cost.reason) == (name, reason)


def test_the_table_of_findings_holds_every_finding_with_its_reasons(tmp_path: Path) -> None:
    run = replace(RUN, counters=True, udp=Udp())
    findings = [read_finding(found) for found in facts_of(run)["findings"]]
    write_table(findings_table(findings), tmp_path / "findings.csv")
    table = read_table(tmp_path / "findings.csv").set_index("id")
    assert len(table) == sum(1 + len(found.reasons) for found in findings)
    reasons = table.dropna(subset="reason_of")
    of_them = table.loc[reasons["reason_of"].astype(int)]
    assert of_them["reason_of"].isna().all()
    assert list(of_them["question"]) == list(reasons["question"])
    assert set(table["question"]) == {
        "fastest", "cheapest", "zero_copy", "misses", "threads", "crossover", "expectation",
    }  # fmt: skip
