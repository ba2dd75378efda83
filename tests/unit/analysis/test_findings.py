"""Findings as records: one form for all questions, in a table that other programs read."""

from pathlib import Path

from analysed import facts_of
from synthetic import Run, Udp

from copycost.analysis.columns import read_table, write_table
from copycost.analysis.finding import read_finding
from copycost.analysis.tables import findings_table

RUN = Run(msg_bytes=(1024, 65536), n_threads=(1, 2), repetitions=5, counters=True, udp=Udp())


def test_the_table_of_findings_holds_every_finding_with_its_reasons(tmp_path: Path) -> None:
    findings = [read_finding(found) for found in facts_of(RUN)["findings"]]
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
