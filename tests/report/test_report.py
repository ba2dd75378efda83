"""Whole reports of different runs, rendered by the embedded default and looked at page by page."""

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pdfplumber
import pytest
from playwright.sync_api import Browser
from report.checks import check_html, check_pdf
from report.example import write_example
from synthetic import Run, Udp

from copycost.build.typesetter import find_typesetter
from copycost.report.typeset import render_report

NASTY = 'unshare: not permitted | <EPERM> a_b*c* `x` $y$ [z] (q) @x "quoted" -- ~1^2 C:\\tmp ...'
SIZES = (256, 4096, 65536, 1048576)
TWELVE = (
    "two_copy", "one_copy", "zero_copy", "write_v", "uring_send", "uring_sendmsg",
    "uring_zero_copy", "sendfile", "splice", "splice_gift", "sendmmsg_x16", "uring_send_x8", "mine",
)  # fmt: skip


def one_fails(implementation: str, msg_bytes: int, n_threads: int, rep: int) -> bool:
    return (implementation, msg_bytes, rep) == ("zero_copy", 4096, 2)


UDP = Udp(msg_bytes=(4096, 16384, 32768), extra_repetitions=2)
RUNS = {
    "usual": Run(msg_bytes=SIZES, n_threads=(1, 2), failed=one_fails),
    "nothing": Run(msg_bytes=(256, 4096), n_threads=(1,), skipped={"veth": NASTY}),
    "whole": Run(
        testbeds=("veth", "veth_no_offload"),
        msg_bytes=SIZES[1:3],
        n_threads=(1,),
        counters=True,
        skipped={"veth_no_offload": NASTY},
        udp=UDP,
    ),
    "many": Run(
        implementations=TWELVE,
        msg_bytes=(1024, 65536),
        n_threads=(1,),
        udp=Udp(
            implementations=("two_copy", "zero_copy", "udp_gso", "udp_gso_x16"),
            msg_bytes=(1024, 32768),
        ),
    ),
}


@dataclass(frozen=True)
class Made:
    """A rendered report."""

    qmd: Path
    html: Path
    pdf: Path


# It draws many figures and takes most of the time.
SLOW = ("many",)
WHOLE = ("whole", "many")
PARAMS = [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in RUNS]


@pytest.fixture(scope="module", params=PARAMS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp(request.param)
    qmd = write_example(RUNS[request.param], folder, whole=request.param in WHOLE)
    made = Made(qmd, qmd.with_suffix(".html"), qmd.with_suffix(".pdf"))
    without_quarto = find_typesetter(str(folder))
    render_report(qmd, ["html", "pdf"], without_quarto)
    return made


@pytest.mark.needs_chromium
def test_page_is_whole_at_every_width(made: Made, browser: Browser) -> None:
    check_html(made.html, browser)


def test_pdf_has_no_overflow_missing_glyph_or_dead_reference(made: Made) -> None:
    check_pdf(made.pdf)


def test_markdown_keeps_to_what_quarto_and_pandoc_share(made: Made) -> None:
    text = made.qmd.read_text().split("\n---\n", 1)[1]
    assert not re.search(r"^```\{(?!=(?:typst|html)\})", text, re.MULTILINE), (
        "code that would be run"
    )
    assert not re.search(r"https?://", text), "something remote"
    prose = re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.M))
    assert not re.search(r"(?<!\\)<[a-zA-Z/]", prose), "raw HTML"
    for identifier in identifiers(prose):
        assert re.fullmatch(r"(fig|tbl|sec)-[a-z0-9-]+", identifier), identifier


def identifiers(prose: str) -> Iterator[str]:
    yield from re.findall(r"(?<!\\)\{#([^ }\\]+)", prose)


def test_the_page_has_the_sources_of_numbers(made: Made) -> None:
    script = re.search(r'id="numbers">(.*?)</script>', made.html.read_text(), re.DOTALL)
    assert script
    with made.qmd.with_name("numbers.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row["printed"], row["source"]) for row in csv.DictReader(file)]
    found = json.loads(script[1])
    assert found
    for text, sources in found.items():
        assert sources == [source for printed, source in rows if printed == text]
        assert len(text) > 2


def test_every_loss_is_shown_with_its_reason(made: Made) -> None:
    text = made.qmd.read_text()
    if "usual" in str(made.qmd):
        assert "Connection reset by peer" in text
    elif "whole" in str(made.qmd) or "nothing" in str(made.qmd):
        assert r"\<EPERM\> a\_b\*c\* \`x\`" in text
        assert "run as root" in text


def test_the_answer_stands_before_everything_else(made: Made) -> None:
    answer, _, rest = made.qmd.read_text().partition("#outline(")
    assert re.findall("^# .*$", answer, re.MULTILINE) == ["# The answer {#sec-answer}"]
    assert "{#sec-compared}" in rest
    if "nothing" in str(made.qmd):
        assert "Nothing was measured; @sec-results has the reasons." in answer
    else:
        assert "{#tbl-answer}" in answer


def test_the_answer_fits_the_first_page(made: Made) -> None:
    if "nothing" in str(made.qmd) or "many" in str(made.qmd):
        pytest.skip("nothing measured, or far more than a run usually has")
    with pdfplumber.open(made.pdf) as pdf:
        page = " ".join(pdf.pages[0].extract_text().split())
    title = r"What does each copy cost\? Model CPU, 2 CPUs, (a virtual machine, )?Linux"
    assert re.match(title, page)
    for said in ("1 The answer", "Table 1.", "On a real network card.", "Figure 1."):
        assert said in page
