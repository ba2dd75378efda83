"""The filter, the templates and the refusals of the embedded default, and a Quarto that fails."""

import os
import re
import sys
from pathlib import Path

import pdfplumber
import pytest
from report.example import write_page

from copycost.build.typesetter import Typesetter, find_typesetter
from copycost.cli.doctor.findings import judge_typesetter
from copycost.errors import CopycostError
from copycost.records.files import read_json
from copycost.report import typeset
from copycost.report.typeset import NotTypeset, render_html, render_pdf, render_report

HEAD = "---\ntitle: T\n---\n\n"
DOCUMENT = """---
title: "A title"
subtitle: "A host"
---

# First {#sec-first}

See @fig-one, [@fig-two; @tbl-one], @sec-inner and @sec-appendix.

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

# Appendix {#sec-appendix}

## Inner {#sec-inner}

Typeset by []{.typesetter}.
"""


def pages_of(pdf: bytes, folder: Path) -> list[str]:
    path = folder / "read.pdf"
    path.write_bytes(pdf)
    with pdfplumber.open(path) as opened:
        return [page.extract_text() for page in opened.pages]


def test_page_numbers_its_references_and_says_what_typeset_it(tmp_path: Path) -> None:
    page = re.sub(r"[ \n]+", " ", render_html(write_page(tmp_path, DOCUMENT), "a test").decode())
    labels = {"fig-one": "Figure 1", "fig-two": "Figure 2", "tbl-one": "Table 1",
              "sec-inner": "Section A.1", "sec-appendix": "Section A"}  # fmt: skip
    for target, label in labels.items():
        name = label.replace(" ", "\u00a0")
        assert f'<a href="#{target}" class="ref">{name}</a>' in page
        assert f'id="{target}"' in page
    assert "<blockquote> <p><strong>Mind</strong></p> <p>Inside.</p>" in page
    assert "Typeset by a test." in page


def test_pdf_is_the_same_whenever_it_is_made(tmp_path: Path) -> None:
    qmd = write_page(tmp_path, DOCUMENT)
    first = render_pdf(qmd, "a test")
    assert first == render_pdf(qmd, "a test")
    assert {path.name for path in tmp_path.iterdir()} == {"assets", "one.svg", "report.qmd"}
    text = "\n".join(pages_of(first, tmp_path))
    assert "Section A.1 and Section A." in " ".join(text.split())
    assert re.search(r"^A\.1 Inner$", text, re.MULTILINE)


def test_no_page_begins_within_a_group_of_rows(tmp_path: Path) -> None:
    rows = [f"| {'size' if name == 'a' else ''} | {name} |" for _ in range(60) for name in "abc"]
    table = ["| of | row |", "|:--|:--|", *rows, "", ": Rows. {#tbl-rows .grouped}"]
    qmd = write_page(tmp_path, HEAD + "\n".join([*table, ""]))
    pages = [page.splitlines() for page in pages_of(render_pdf(qmd, "a test"), tmp_path)]
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
    with pytest.raises(CopycostError, match="Pandoc cannot typeset") as caught:
        render_html(write_page(tmp_path, f"{HEAD}{text}\n"), "a test")
    assert message in str(caught.value)


def test_typst_errors_and_warnings_are_told_and_leave_nothing(tmp_path: Path) -> None:
    for code, message in (
        ("#no-such-function()", r"Typst cannot typeset .*no-such-function"),
        ('#set text(font: "No Such Font")', r"Typst warns .*no such font"),
    ):
        qmd = write_page(tmp_path, f"{HEAD}```{{=typst}}\n{code}\n```\n\nText.\n")
        with pytest.raises(CopycostError, match=message):
            render_pdf(qmd, "a test")
    assert not list(tmp_path.glob(".*"))


def fake_quarto(folder: Path, script: str) -> Path:
    program = folder / "quarto"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def qmd(tmp_path: Path) -> Path:
    folder = tmp_path / "report"
    folder.mkdir()
    return write_page(folder, f"{HEAD}Text.\n")


@pytest.mark.parametrize(
    ("script", "taken", "said"),
    [
        ("echo 1.10.2", True, "Quarto 1.10.2"),
        ("echo 1.9.0-rc1", True, "Quarto 1.9.0-rc1"),
        ("echo 1.8.27", False, "Quarto 1.8.27 is older than 1.9"),
        ("echo broken >&2; exit 3", False, "(the Quarto on the PATH tells no version)"),
        (None, False, "(no Quarto on the PATH)"),
    ],
)
def test_a_recent_quarto_is_taken_and_else_the_embedded_default(
    tmp_path: Path, script: str | None, taken: bool, said: str
) -> None:
    program = fake_quarto(tmp_path, script) if script else None
    found = find_typesetter(str(tmp_path))
    assert said in found.description
    assert found.quarto == (str(program) if taken else None)
    if not taken:
        assert found.description.startswith("the embedded Pandoc 3.")
    if "older" in said:
        judged = judge_typesetter(found)
        assert (judged.state, judged.note) == ("limited", found.description)
        assert judged.remedy == "install Quarto 1.9 or newer, or do without"


@pytest.mark.parametrize(
    ("package", "fails"), [("pypandoc", ["report.html", "report.pdf"]), ("typst", ["report.pdf"])]
)
def test_a_format_that_nothing_typesets_says_so_and_the_other_is_written(
    qmd: Path, monkeypatch: pytest.MonkeyPatch, package: str, fails: list[str]
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    reason = f"neither Quarto .* nor the Python package {package}"
    with pytest.raises(NotTypeset, match=reason) as caught:
        render_report(qmd, ["html", "pdf"], find_typesetter(str(qmd.parent)))
    assert list(caught.value.missing) == fails
    page = qmd.with_suffix(".html").read_text()
    assert ("could not be typeset" in page) == ("report.html" in fails)
    assert "Text." in page
    paper = pages_of(qmd.with_suffix(".pdf").read_bytes(), qmd.parent)
    assert "could not be typeset" in paper[0]


def test_a_fault_of_a_typesetter_costs_its_format_alone(
    qmd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typeset, "render_html", lambda *_: 1 // 0)
    with pytest.raises(NotTypeset, match="ZeroDivisionError: "):
        render_report(qmd, ["html", "pdf"], find_typesetter(str(qmd.parent)))
    assert "could not be typeset" in qmd.with_suffix(".html").read_text()
    assert qmd.with_suffix(".pdf").read_bytes().startswith(b"%PDF")


DEAD = "echo '[WARNING] Unable to resolve crossref @tbl-x' >&2"
ERROR = r"printf 'first\n\033[91mERROR: no Deno\033[39m\nlast\n' >&2; exit 1"


@pytest.mark.parametrize(
    ("script", "fails", "says"),
    [
        (ERROR, {"html", "pdf"}, "it says: ERROR: no Deno;"),
        ("printf '\\377\\n' >&2; exit 1", {"html", "pdf"}, "it says: \N{REPLACEMENT CHARACTER};"),
        ("exit 0", {"html", "pdf"}, "it says: nothing;"),
        (f"case $* in *html*) echo q > report.html ;; *) {ERROR} ;; esac", {"pdf"}, "no Deno;"),
        (
            f"echo q > report.html; echo q > report.pdf; {DEAD}; echo last >&2",
            {"html", "pdf"},
            "Unable to resolve crossref @tbl-x;",
        ),
    ],
)
def test_a_format_in_which_quarto_fails_is_the_embedded_defaults(
    qmd: Path,
    tmp_path: Path,
    script: str,
    fails: set[str],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    fake_quarto(tmp_path, f'if [ "$1" = --version ]; then echo 1.9.38; else {script}; fi')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    html, pdf = render_report(qmd, ["html", "pdf"])
    assert "Text." in html.read_text() if "html" in fails else html.read_text() == "q\n"
    assert pdf.read_bytes().startswith(b"%PDF")
    lines = sorted(capsys.readouterr().err.splitlines(), key=lambda one: one.split(".")[-1])
    for line, kind in zip(lines, sorted(fails), strict=True):
        assert line.startswith("copycost: report: Quarto 1.9.38 cannot typeset ")
        assert f"{says} the embedded Pandoc 3." in line
        assert line.endswith(f" (Quarto 1.9.38 failed) typesets report.{kind}")
        assert line.removeprefix("copycost: ") in caplog.text
    by = read_json(qmd.with_name("typesetters.json"))
    assert {kind for kind, name in by.items() if name != "Quarto 1.9.38"} == fails


def test_a_fault_of_the_report_itself_is_not_hidden(qmd: Path, tmp_path: Path) -> None:
    qmd.write_text(f"{HEAD}See @tbl-nowhere.\n")
    program = fake_quarto(tmp_path, f"echo html > report.html; {DEAD}")
    with pytest.raises(NotTypeset, match="tbl-nowhere"):
        render_report(qmd, ["html"], Typesetter(str(program), "Quarto 1.9"))
    assert "tbl-nowhere" in qmd.with_suffix(".html").read_text()
