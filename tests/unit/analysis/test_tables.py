"""What a byte's cost is, and the table of findings; golden texts have medians and ratios."""

from pathlib import Path

import pytest
from analysed import facts_of
from synthetic import Run, Udp, make_cells

from copycost.analysis.columns import read_table, write_table
from copycost.analysis.finding import read_finding
from copycost.analysis.metrics import choose_cost_metric
from copycost.analysis.tables import findings_table


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


@pytest.mark.slow
def test_the_table_of_findings_holds_every_finding_with_its_reasons(tmp_path: Path) -> None:
    run = Run(msg_bytes=(1024, 65536), n_threads=(1, 2), counters=True, udp=Udp())
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
