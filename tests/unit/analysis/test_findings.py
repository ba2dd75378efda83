"""Findings as records: one form for all questions, in a table that other programs read."""

from pathlib import Path

from analysed import facts_of
from synthetic import Run, Udp

from copycost.analysis.columns import read_table, write_table
from copycost.analysis.finding import of, read_finding
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


def test_a_finding_says_what_the_facts_say() -> None:
    facts = facts_of(RUN)
    findings = [read_finding(found) for found in facts["findings"]]
    found = next(one for one in of(findings, "crossover") if one.subject == "zero_copy")
    assert (found.condition, found.verdict, found.n_worse) == ("veth", "never", 4)
    assert None not in (found.estimate, found.low, found.high)
    assert found.low < found.estimate < found.high < 1.0
    worst = found.reason("throughput_bits_per_s (worst)")
    assert worst is not None
    assert worst.correction == "picked from 4 cells"
    assert worst.estimate < found.estimate
    assert found.reason("copied_share") is None
    (copied,) = (one for one in of(findings, "zero_copy") if one.condition == "veth")
    share = copied.reason("copied_share")
    assert share is not None
    assert (share.verdict, share.estimate) == ("shown", 1.0)
