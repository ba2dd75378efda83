"""The whole command: a file in, a judged report out, which speaks of nothing that nobody told."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser
from report.checks import check_html, check_pdf
from unit.compare.audit.made import GUESSED, PUBLISHED, honest, read_frame

from copycost.__main__ import main
from copycost.compare.audit import report
from copycost.compare.audit.facts import audit_facts
from copycost.compare.audit.mapping import FileMapping
from copycost.compare.audit.plausibility import check_plausibility
from copycost.compare.audit.reader import read_dataset

pytestmark = pytest.mark.slow


@pytest.mark.needs_chromium
def test_a_published_run_becomes_a_report_with_its_verdicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], browser: Browser
) -> None:
    assert main(["audit", str(PUBLISHED / "i5-10500.csv"), "--output", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "claim 2, contradicted, observed once: one_copy has more throughput" in said
    audit = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))
    assert [claim["verdict"] for claim in audit["claims"]].count("contradicted") == 4
    html = " ".join((tmp_path / "report.html").read_text(encoding="utf-8").split())
    assert "an exact function of size and threads (one_copy: 3 x size + 800 x threads" in html
    assert "From which size on does one copy beat two?" in html
    check_pdf(tmp_path / "report.pdf")
    check_html(tmp_path / "report.html", browser)


def test_a_table_with_gaps_and_odd_names_becomes_a_whole_report(tmp_path: Path) -> None:
    table = honest(2, sizes=(1024, 65536)).sample(frac=0.6, random_state=1)
    table["machine"] = "Grandma's PC (2)"
    table.loc[table["threads"] == 4, "cycles"] = None
    table["impl"] = table["impl"].map(
        {"two_copy": "plain|old", "one_copy": "*new*", "zero_copy": "MSG_ZEROCOPY"}
    )
    table.to_csv(tmp_path / "odd.csv", index=False, sep=";", decimal=",")
    arguments = ["audit", str(tmp_path / "odd.csv"), "--output", str(tmp_path / "out")]
    assert main([*arguments, "--formats", "html"]) == 0
    assert not (tmp_path / "out" / "report.pdf").exists()
    assert "Grandma-s-PC-2" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "impl,size,threads,L1,cycles\nA1,64,1,2000,100\nA2,64,1,3000,0\n",
        "impl,size,threads,gbps\nA1,64,1,2\n",
        "host,impl,size,threads,gbps\nx,A1,64,1,2\ny,A1,64,1,3\nx,A2,128,1,0\n",
    ],
    ids=["totals only", "one cell", "two hosts and a zero"],
)
def test_the_smallest_tables_become_whole_reports(text: str, tmp_path: Path) -> None:
    (tmp_path / "small.csv").write_text(text, encoding="utf-8")
    arguments = ["audit", str(tmp_path / "small.csv"), "--output", str(tmp_path / "out")]
    assert main([*arguments, "--formats", "html"]) == 0


def test_what_cannot_be_read_is_one_sentence_and_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.csv").write_bytes(b"\x00\x01\x02")
    assert main(["audit", str(tmp_path / "bad.csv"), "--output", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("copycost: ")
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


UNTOLD = (
    "this host", "this machine", "pinned", "perf", "page fault", "kernel marked", "namespace",
    "no zero-copy send", "cannot count", "eight pieces", "network card", "again and again",
    "error queue", "system calls per message", "processors", "came with a warning",
)  # fmt: skip
"""What a report of our own may say of its host and its run, and a table does not tell."""


KEYS = ["impl", "size", "threads", "rep"]
OTHERS = {"two_copy": "sendfile", "one_copy": "splice", "zero_copy": "rdma"}
TABLES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "all columns": lambda table: table,
    "one repetition": lambda table: honest(1).query("size <= 65536"),
    "totals without bytes": lambda table: table[[*KEYS, "latency_us", "cycles", "L1", "LLC"]],
    "without threads": lambda table: table[table["threads"] == 1].drop(
        columns=["threads", "bytes_received", "messages"]
    ),
    "others' programs": lambda table: table[[*KEYS, "throughput_gbps", "latency_us"]].assign(
        impl=table["impl"].map(OTHERS)
    ),
}


@pytest.mark.parametrize("name", [*TABLES, "i5-10500", "ryzen-7840hs"])
def test_nothing_is_said_that_nobody_told(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "AUDIT_FIGURES", ())
    if name in TABLES:
        # a mapping tells of the caches of a host, which is not this one
        mapping = FileMapping(host={"l1d_bytes": 32768, "llc_bytes": 12582912, "cpus": 8})
        dataset = read_frame(TABLES[name](honest().query("size <= 65536")), tmp_path, mapping)
    else:
        dataset = read_dataset(PUBLISHED / f"{name}.csv", GUESSED)
    facts = audit_facts(dataset, check_plausibility(dataset), [], ["made.csv"])
    report.write_report(dataset, facts, tmp_path, [])
    text = (tmp_path / "report.qmd").read_text(encoding="utf-8").split("---\n", 2)[2]
    text = " ".join(line for line in text.splitlines() if not line.startswith("|"))
    said = [words for words in UNTOLD if re.search(rf"\b{words}", text.lower())]
    assert not said
    if name == "totals without bytes":  # they are not said to be uncounted
        assert "It has total misses, but not their number of bytes" in text
