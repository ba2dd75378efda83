"""The whole command: a file in, a judged report out."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from report.checks import check_html, check_pdf
from unit.compare.audit.made import PUBLISHED, honest

from copycost.__main__ import main

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
