import os
import sys
from pathlib import Path

import pdfplumber
import pytest

from copycost.build.typesetter import Typesetter, find_typesetter
from copycost.checkout import ROOT
from copycost.doctor.findings import judge_typesetter
from copycost.records.files import read_json
from copycost.report import embedded, quarto
from copycost.report.assets import gather_assets
from copycost.report.quarto import QuartoError
from copycost.report.render import NotTypeset, render_report

QMD = "---\ntitle: T\n---\n\nText.\n"


def fake_quarto(folder: Path, script: str) -> Path:
    program = folder / "quarto"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def qmd(tmp_path: Path) -> Path:
    folder = tmp_path / "report"
    gather_assets([], [], ROOT / "report", folder / "assets")
    (folder / "report.qmd").write_text(QMD)
    return folder / "report.qmd"


@pytest.mark.parametrize("version", ["1.9.0", "1.10.2", "2.0", "1.9.23-rc1"])
def test_recent_quarto_is_taken(tmp_path: Path, version: str) -> None:
    program = fake_quarto(tmp_path, f"echo {version}")
    assert find_typesetter(str(tmp_path)) == Typesetter(str(program), f"Quarto {version}")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (None, "(no Quarto on the PATH)"),
        ("echo 1.8.27", "Quarto 1.8.27 is older than 1.9"),
        ("echo broken >&2; exit 3", "(the Quarto on the PATH tells no version)"),
        ("echo no version", "(the Quarto on the PATH tells no version)"),
    ],
)
def test_without_a_usable_quarto_the_embedded_default_is_taken(
    tmp_path: Path, script: str | None, why: str
) -> None:
    if script:
        fake_quarto(tmp_path, script)
    found = find_typesetter(str(tmp_path))
    assert found.quarto is None
    assert found.description.startswith("the embedded Pandoc 3.")
    assert why in found.description
    if "older" in why:
        said = judge_typesetter(found)
        assert (said.state, said.note) == ("limited", found.description)
        assert said.remedy == "install Quarto 1.9 or newer, or do without"


@pytest.mark.parametrize(
    ("package", "fails"), [("pypandoc", ["report.html", "report.pdf"]), ("typst", ["report.pdf"])]
)
def test_a_format_that_nothing_typesets_says_so_and_the_other_is_written(
    qmd: Path, monkeypatch: pytest.MonkeyPatch, package: str, fails: list[str]
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    found = find_typesetter(str(qmd.parent))
    with pytest.raises(
        NotTypeset, match=f"neither Quarto .* nor the Python package {package}"
    ) as it:
        render_report(qmd, ["html", "pdf"], found)
    assert list(it.value.missing) == fails
    page, paper = qmd.with_suffix(".html").read_text(), qmd.with_suffix(".pdf")
    assert ("could not be typeset" in page) == ("report.html" in fails)
    assert "Text." in page
    with pdfplumber.open(paper) as pdf:
        assert "could not be typeset" in pdf.pages[0].extract_text()


def test_a_fault_of_a_typesetter_costs_its_format_alone(
    qmd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bytes:
        raise RuntimeError("out of luck")

    monkeypatch.setattr(embedded, "render_html", fail)
    with pytest.raises(NotTypeset, match="RuntimeError: out of luck"):
        render_report(qmd, ["html", "pdf"], find_typesetter(str(qmd.parent)))
    assert "could not be typeset" in qmd.with_suffix(".html").read_text()
    assert qmd.with_suffix(".pdf").read_bytes().startswith(b"%PDF")


RED_ERROR = r"printf '\033[91mERROR: no Deno\033[39m\nStack trace:\n' >&2"
DEAD_REFERENCE = "echo '[WARNING] Unable to resolve crossref @tbl-x' >&2"


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("echo first >&2; echo 'ERROR: no Deno' >&2; exit 1", "it says: ERROR: no Deno"),
        (f"echo first >&2; {RED_ERROR}; echo last >&2; exit 1", "it says: ERROR: no Deno"),
        ("printf '\\377\\n' >&2; exit 1", "it says: \N{REPLACEMENT CHARACTER}"),
        ("exit 0", "it says: nothing"),
        (f"echo html > report.html; {DEAD_REFERENCE}; echo last >&2", "resolve crossref @tbl-x"),
    ],
)
def test_failing_quarto_is_one_clear_sentence(
    qmd: Path, tmp_path: Path, script: str, says: str
) -> None:
    program = fake_quarto(tmp_path, script)
    with pytest.raises(QuartoError, match=r"Quarto 1\.9 cannot typeset") as caught:
        quarto.render(qmd, program, "Quarto 1.9", "html")
    assert str(caught.value).endswith(says)
    assert not qmd.with_suffix(".html").exists()


DEAD = f"echo html > report.html; echo pdf > report.pdf; {DEAD_REFERENCE}"


@pytest.mark.parametrize(
    ("render", "fails"),
    [
        ("echo 'ERROR: no Deno' >&2; exit 1", {"html", "pdf"}),
        (
            "case $* in *html*) echo q > report.html ;; *) echo ERROR: no >&2; exit 1 ;; esac",
            {"pdf"},
        ),
        (DEAD, {"html", "pdf"}),
    ],
    ids=["nothing works", "no PDF", "dead reference"],
)
def test_a_format_in_which_quarto_fails_is_the_embedded_defaults(
    qmd: Path,
    tmp_path: Path,
    render: str,
    fails: set[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    fake_quarto(tmp_path, f'if [ "$1" = --version ]; then echo 1.9.38; else {render}; fi')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    html, pdf = render_report(qmd, ["html", "pdf"])
    assert html.read_text() == "q\n" if "html" not in fails else "Text." in html.read_text()
    assert pdf.read_bytes().startswith(b"%PDF")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(fails)
    for line, kind in zip(
        sorted(lines, key=lambda one: one.split(".")[-1]), sorted(fails), strict=True
    ):
        assert line.startswith("copycost: report: Quarto 1.9.38 cannot typeset ")
        assert "; the embedded Pandoc 3." in line
        assert line.endswith(f" (Quarto 1.9.38 failed) typesets report.{kind}")
        assert line.removeprefix("copycost: ") in caplog.text
    by = read_json(qmd.with_name("typesetters.json"))
    assert {kind for kind, name in by.items() if name != "Quarto 1.9.38"} == fails


def test_a_fault_of_the_report_itself_is_not_hidden(qmd: Path, tmp_path: Path) -> None:
    qmd.write_text(QMD + "See @tbl-nowhere.\n")
    program = fake_quarto(tmp_path, f"echo html > report.html; {DEAD_REFERENCE}")
    with pytest.raises(NotTypeset, match="tbl-nowhere"):
        render_report(qmd, ["html"], Typesetter(str(program), "Quarto 1.9"))
    assert "tbl-nowhere" in qmd.with_suffix(".html").read_text()
