"""The filter, the templates and the refusals of the embedded default, on small documents."""

import re
from pathlib import Path

import pdfplumber
import pytest

from copycost.errors import CopycostError
from copycost.report import typeset
from copycost.report.assets import gather_assets

REPORT = Path(__file__).parents[3] / "report"
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40">'
    '<rect width="90" height="40"/></svg>'
)
DOCUMENT = """---
title: "A title"
subtitle: "A host"
---

# First {#sec-first}

See @fig-one, [@fig-two; @tbl-one] and @sec-inner.

## Inner {#sec-inner}

![A *first* figure.](one.svg){#fig-one fig-alt="One"}

![A second figure.](one.svg){#fig-two fig-alt="Two" width=50%}

| a | b |
|:--|--:|
| x | 1 |
|   | 2 |
| y | 3 |

: A table. {#tbl-one .grouped}

::: {.callout-note title="Mind"}
Inside.
:::

# Last

Typeset by []{.typesetter}.
"""


def write(folder: Path, text: str) -> Path:
    gather_assets([], [], REPORT, folder / "assets")
    (folder / "one.svg").write_text(SVG)
    qmd = folder / "report.qmd"
    qmd.write_text(text)
    return qmd


@pytest.fixture
def html(tmp_path: Path) -> str:
    page = typeset.render_html(write(tmp_path, DOCUMENT), "a test").decode()
    return re.sub(r"[ \n]+", " ", page)


def test_references_carry_numbers_and_lead_to_their_target(html: str) -> None:
    labels = {
        "fig-one": "Figure\u00a01",
        "fig-two": "Figure\u00a02",
        "tbl-one": "Table\u00a01",
        "sec-inner": "Section\u00a01.1",
    }
    for target, label in labels.items():
        assert f'<a href="#{target}" class="ref">{label}</a>' in html
        assert f'id="{target}"' in html


def test_callout_and_typesetter_are_written_out(html: str) -> None:
    assert "<blockquote> <p><strong>Mind</strong></p> <p>Inside.</p>" in html
    assert "Typeset by a test." in html


def test_pdf_is_the_same_whenever_it_is_made(tmp_path: Path) -> None:
    qmd = write(tmp_path, DOCUMENT)
    first = typeset.render_pdf(qmd, "a test")
    assert first.startswith(b"%PDF")
    assert first == typeset.render_pdf(qmd, "a test")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "assets", "one.svg", "report.qmd",
    ]  # fmt: skip


def test_no_page_begins_within_a_group_of_rows(tmp_path: Path) -> None:
    rows = [f"| {'size' if name == 'a' else ''} | {name} |" for _ in range(60) for name in "abc"]
    table = ["| of | row |", "|:--|:--|", *rows, "", ": Rows. {#tbl-rows .grouped}"]
    qmd = write(tmp_path, "\n".join(["---", "title: T", "---", "", *table, ""]))
    pdf = tmp_path / "report.pdf"
    pdf.write_bytes(typeset.render_pdf(qmd, "a test"))
    with pdfplumber.open(pdf) as opened:
        pages = [page.extract_text().splitlines() for page in opened.pages]
    firsts = [lines[lines.index("of row") + 1] for lines in pages]
    assert len(firsts) > 2
    assert set(firsts) == {"size a"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("See @fig-nothing.", "the reference @fig-nothing points to nothing"),
        ("![A](missing.svg){#fig-a fig-alt='x'}", "missing.svg"),
        ("# A {#sec-a}\n\n# B {#sec-a}", "sec-a"),
        ("![A](one.svg){#fig-a}", "fig-a has no fig-alt"),
        ("| a |\n|---|\n| 1 |\n\n: No id.", "a table has no #tbl- id"),
        ("![A](one.svg){#fig-a fig-alt='x'}\n\n![A](one.svg){#fig-a fig-alt='x'}", "fig-a"),
    ],
)
def test_a_report_with_a_hole_is_not_made(tmp_path: Path, text: str, message: str) -> None:
    qmd = write(tmp_path, f"---\ntitle: T\n---\n\n{text}\n")
    with pytest.raises(CopycostError, match="Pandoc cannot typeset") as caught:
        typeset.render_html(qmd, "a test")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("#no-such-function()", r"Typst cannot typeset .*no-such-function"),
        ('#set text(font: "No Such Font")', r"Typst warns .*no such font"),
    ],
)
def test_typst_errors_and_warnings_are_told_and_leave_nothing(
    tmp_path: Path, code: str, message: str
) -> None:
    qmd = write(tmp_path, f"---\ntitle: T\n---\n\n```{{=typst}}\n{code}\n```\n\nText.\n")
    with pytest.raises(CopycostError, match=message):
        typeset.render_pdf(qmd, "a test")
    assert not list(tmp_path.glob(".*"))


APPENDIX = """---
title: T
---

# First {#sec-first}

See @sec-inner and @sec-appendix.

# Appendix {#sec-appendix}

## Inner {#sec-inner}

![A figure.](one.svg){#fig-one fig-alt="One"}
"""


def test_sections_of_an_appendix_have_its_letter(tmp_path: Path) -> None:
    qmd = write(tmp_path, APPENDIX)
    page = typeset.render_html(qmd, "a test").decode().partition("<main>")[2]
    assert re.findall(r'header-section-number">([^<]*)<', page) == ["1", "A", "A.1"]
    assert re.findall(r"Section\s(A[.\d]*)", page) == ["A.1", "A"]
    pdf = tmp_path / "report.pdf"
    pdf.write_bytes(typeset.render_pdf(qmd, "a test"))
    with pdfplumber.open(pdf) as opened:
        text = "\n".join(each.extract_text() for each in opened.pages)
    assert re.search(r"^See Section A\.1 and Section A\.$", text, re.MULTILINE)
    assert re.search(r"^A\.1 Inner$", text, re.MULTILINE)
