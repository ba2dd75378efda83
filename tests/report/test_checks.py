"""The checks of finished reports find what they are made to find."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from report.checks import check_html, check_pdf
from report.example import write_page

from copycost.report import typeset

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


def write(folder: Path, extra: str = "") -> Path:
    return write_page(folder, f"---\ntitle: T\n---\n\n{GOOD.replace('EXTRA', extra)}")


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
    pdf = tmp_path / "report.pdf"
    pdf.write_bytes(typeset.render_pdf(write(tmp_path, extra), "a test"))
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
    page = typeset.render_html(write(tmp_path), "a test").decode()
    assert old in page
    path = tmp_path / "report.html"
    path.write_text(page.replace(old, new, 1))
    with pytest.raises(AssertionError, match=message):
        check_html(path, browser)
