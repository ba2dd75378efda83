"""The checks of finished reports find what they are made to find."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from report.checks import check_html, check_pdf
from report.example import REPORT

from copycost.report import typeset
from copycost.report.assets import gather_assets

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="90">'
    '<rect width="9" height="9"/></svg>'
)
GOOD = """# First {#sec-first}

See @fig-one and @tbl-one in @sec-first.

![A figure.](one.svg){#fig-one fig-alt="A square"}

| a | b |
|:--|--:|
| x | 1 |

: A table. {#tbl-one}

EXTRA

Typeset by a test.
"""


def write(folder: Path, extra: str) -> Path:
    gather_assets([], [], REPORT, folder / "assets")
    (folder / "one.svg").write_text(SVG)
    qmd = folder / "report.qmd"
    qmd.write_text(f"---\ntitle: T\n---\n\n{GOOD.replace('EXTRA', extra)}")
    return qmd


def pdf_with(folder: Path, extra: str) -> Path:
    pdf = folder / "report.pdf"
    pdf.write_bytes(typeset.render_pdf(write(folder, extra), "a test"))
    return pdf


def html_with(folder: Path, old: str, new: str) -> Path:
    page = typeset.render_html(write(folder, ""), "a test").decode()
    assert old in page
    path = folder / "report.html"
    path.write_text(page.replace(old, new, 1))
    return path


def typst(code: str) -> str:
    return f"```{{=typst}}\n{code}\n```"


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ("A glyph that no font has: \U00013000.", "characters that the fonts lack"),
        (typst('#box(width: 1pt)[#"far"] #h(9cm) #("W" * 60)'), "margin|overlap"),
        (typst("#place(left, dx: -2cm, rect(width: 5pt))"), "left margin"),
        ("See Figure 7.", "Figure 7 is referred to"),
    ],
)
def test_a_faulty_pdf_is_found_out(tmp_path: Path, extra: str, message: str) -> None:
    pdf = pdf_with(tmp_path, extra)
    with pytest.raises(AssertionError, match=message):
        check_pdf(pdf)


@pytest.mark.needs_chromium
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('href="#tbl-one"', 'href="#tbl-two"', "references to nothing"),
        ("</main>", '<div style="width: 900px">wide</div></main>', "900|px wide"),
        ("</main>", "<script>console.error('broken')</script></main>", "broken"),
        ("</main>", '<img id="x" alt="x" src="data:image/png;base64,AA"></main>', "natural"),
        ("</main>", '<p id="fig-one">again</p></main>', "ids used twice"),
    ],
)
def test_a_faulty_page_is_found_out(
    tmp_path: Path, browser: Browser, old: str, new: str, message: str
) -> None:
    page = html_with(tmp_path, old, new)
    with pytest.raises(AssertionError, match=message):
        check_html(page, browser)
