"""Whole reports of different runs, rendered by the embedded default and looked at page by page."""

import csv
import json
import re
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
TWELVE = (
    "two_copy", "one_copy", "zero_copy", "write_v", "uring_send", "uring_sendmsg",
    "uring_zero_copy", "sendfile", "splice", "splice_gift", "sendmmsg_x16", "uring_send_x8", "mine",
)  # fmt: skip


def one_fails(implementation: str, msg_bytes: int, n_threads: int, rep: int) -> bool:
    return (implementation, msg_bytes, rep) == ("zero_copy", 4096, 2)


RUNS = {
    "nothing": Run(msg_bytes=(256, 4096), n_threads=(1,), skipped={"veth": NASTY}),
    "whole": Run(
        testbeds=("veth", "veth_no_offload"),
        msg_bytes=(256, 4096, 65536, 1048576),
        n_threads=(1, 2),
        counters=True,
        failed=one_fails,
        skipped={"veth_no_offload": NASTY},
        udp=Udp(msg_bytes=(4096, 16384, 32768), extra_repetitions=2),
    ),
    "many": Run(
        implementations=TWELVE,
        msg_bytes=(1024, 65536),
        n_threads=(1,),
        udp=Udp(
            implementations=("two_copy", "zero_copy", "udp_gso", "udp_gso_x16"),
            msg_bytes=(1024, 32768),
            working_sets=("hot",),
        ),
    ),
}


@dataclass(frozen=True)
class Made:
    """A rendered report, and its Markdown."""

    name: str
    qmd: Path
    text: str
    html: Path
    pdf: Path


# "many" draws many figures
PARAMS = ["nothing", "whole", pytest.param("many", marks=pytest.mark.slow)]


@pytest.fixture(scope="module", params=PARAMS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp(request.param)
    qmd = write_example(RUNS[request.param], folder, whole=request.param != "nothing")
    html, pdf = render_report(qmd, ["html", "pdf"], find_typesetter(str(folder)))
    return Made(request.param, qmd, qmd.read_text(), html, pdf)


@pytest.mark.needs_chromium
def test_page_is_whole_at_every_width(made: Made, browser: Browser) -> None:
    check_html(made.html, browser)


def test_pdf_has_no_overflow_missing_glyph_or_dead_reference(made: Made) -> None:
    check_pdf(made.pdf)


def test_markdown_keeps_to_what_quarto_and_pandoc_share(made: Made) -> None:
    text = made.text.split("\n---\n", 1)[1]
    assert not re.search(r"^```\{(?!=(?:typst|html)\})", text, re.MULTILINE), (
        "code that would be run"
    )
    assert not re.search(r"https?://", text), "something remote"
    prose = re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.M))
    assert not re.search(r"(?<!\\)<[a-zA-Z/]", prose), "raw HTML"
    for identifier in re.findall(r"(?<!\\)\{#([^ }\\]+)", prose):
        assert re.fullmatch(r"(fig|tbl|sec)-[a-z0-9-]+", identifier), identifier


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
    assert ("Connection reset by peer" in made.text) == (made.name == "whole")
    for said in (r"\<EPERM\> a\_b\*c\* \`x\`", "run as root"):
        assert (said in made.text) == (made.name != "many")


def test_the_answer_stands_before_everything_else_on_the_first_page(made: Made) -> None:
    answer, _, rest = made.text.partition("#outline(")
    assert re.findall("^# .*$", answer, re.MULTILINE) == ["# The answer {#sec-answer}"]
    assert "{#sec-compared}" in rest
    if made.name == "nothing":
        assert "Nothing was measured; @sec-results has the reasons." in answer
        return
    assert "{#tbl-answer}" in answer
    if made.name == "whole":  # the other has far more than a run usually has
        with pdfplumber.open(made.pdf) as pdf:
            page = " ".join(pdf.pages[0].extract_text().split())
        title = r"What does each copy cost\? Model CPU, 2 CPUs, (a virtual machine, )?Linux"
        assert re.match(title, page)
        for said in ("1 The answer", "Table 1.", "On a real network card.", "Figure 1."):
            assert said in page
