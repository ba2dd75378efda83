import os
import sys
from pathlib import Path

import pytest

from copycost.build.checkout import ROOT
from copycost.errors import CopycostError, HostError
from copycost.report import quarto
from copycost.report.quarto import QuartoError
from copycost.report.render import render_report
from copycost.report.typesetter import Typesetter, find_typesetter

QMD = "---\ntitle: T\n---\n\nText.\n"


def fake_quarto(folder: Path, script: str) -> Path:
    program = folder / "quarto"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def qmd(tmp_path: Path) -> Path:
    folder = tmp_path / "report"
    folder.mkdir()
    (folder / "report.qmd").write_text(QMD)
    return folder / "report.qmd"


def test_embedded_default_is_taken_where_there_is_no_quarto(tmp_path: Path) -> None:
    found = find_typesetter(str(tmp_path))
    assert found.quarto is None
    assert found.description.startswith("the embedded Pandoc 3.")
    assert found.description.endswith("(no Quarto on the PATH)")


@pytest.mark.parametrize("version", ["1.9.0", "1.10.2", "2.0", "1.9.23-rc1"])
def test_recent_quarto_is_taken(tmp_path: Path, version: str) -> None:
    program = fake_quarto(tmp_path, f"echo {version}")
    assert find_typesetter(str(tmp_path)) == Typesetter(program, f"Quarto {version}")


def test_old_quarto_is_left_aside_and_said_so(tmp_path: Path) -> None:
    fake_quarto(tmp_path, "echo 1.8.27")
    found = find_typesetter(str(tmp_path))
    assert found.quarto is None
    assert "Quarto 1.8.27 is older than 1.9" in found.description


@pytest.mark.parametrize("script", ["echo broken >&2; exit 3", "echo no version", "exit 0"])
def test_broken_quarto_keeps_nobody_from_measuring(tmp_path: Path, script: str) -> None:
    fake_quarto(tmp_path, script)
    found = find_typesetter(str(tmp_path))
    assert found.quarto is None
    assert found.description.endswith("(the Quarto on the PATH tells no version)")


@pytest.mark.parametrize("package", ["pypandoc", "typst"])
def test_neither_quarto_nor_the_embedded_default_is_said_clearly(
    qmd: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    found = find_typesetter(str(qmd.parent))
    with pytest.raises(HostError, match=f"neither Quarto .* nor the Python package {package}"):
        render_report(qmd, {"pdf": qmd.with_suffix(".pdf")}, qmd.parent, found)


def test_choice_survives_as_params(tmp_path: Path) -> None:
    for choice in (Typesetter(None, "x"), Typesetter(tmp_path / "quarto", "Quarto 1.9")):
        assert Typesetter.from_params(choice.as_params()) == choice


RENDER = """
case "$*" in
  "render report.qmd --to html --metadata typesetter:Quarto 1.9") echo html > report.html ;;
  "render report.qmd --to typst --metadata typesetter:Quarto 1.9") echo pdf > report.pdf ;;
  *) echo "unexpected: $*" >&2; exit 9 ;;
esac
touch left-over
"""


def test_quarto_renders_each_format_and_leaves_nothing_else(qmd: Path, tmp_path: Path) -> None:
    program = fake_quarto(tmp_path, RENDER)
    outputs = {kind: qmd.with_suffix(f".{kind}") for kind in ("html", "pdf")}
    render_report(qmd, outputs, tmp_path, Typesetter(program, "Quarto 1.9"))
    assert outputs["html"].read_text() == "html\n"
    assert outputs["pdf"].read_text() == "pdf\n"
    assert sorted(path.name for path in qmd.parent.iterdir()) == [
        "report.html", "report.pdf", "report.qmd",
    ]  # fmt: skip


RED_ERROR = r"printf '\033[91mERROR: no Deno\033[39m\nStack trace:\n' >&2"
DEAD_REFERENCE = "echo '[WARNING] Unable to resolve crossref @tbl-x' >&2"


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("echo first >&2; echo 'ERROR: no Deno' >&2; exit 1", "it says: ERROR: no Deno"),
        (f"echo first >&2; {RED_ERROR}; echo last >&2; exit 1", "it says: ERROR: no Deno"),
        ("echo first >&2; echo last >&2; exit 1", "it says: last"),
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


STYLE = ROOT / "report" / "embedded"


@pytest.mark.parametrize(
    "render",
    [
        "echo 'ERROR: no Deno' >&2; exit 1",
        "case $* in *html*) echo half > report.html ;; *) echo ERROR: no Typst >&2; exit 1 ;; esac",
        f"echo html > report.html; echo pdf > report.pdf; {DEAD_REFERENCE}",
    ],
    ids=["nothing works", "no PDF", "dead reference"],
)
def test_where_quarto_fails_the_embedded_default_typesets_all_and_says_so(
    qmd: Path,
    tmp_path: Path,
    render: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    fake_quarto(tmp_path, f'if [ "$1" = --version ]; then echo 1.9.38; else {render}; fi')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    outputs = {kind: qmd.with_suffix(f".{kind}") for kind in ("html", "pdf")}
    render_report(qmd, outputs, STYLE, find_typesetter())
    assert "Text." in outputs["html"].read_text()
    assert outputs["pdf"].read_bytes().startswith(b"%PDF")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("copycost: report: Quarto 1.9.38 cannot typeset ")
    assert "; the embedded Pandoc 3." in line
    assert line.endswith(" (Quarto 1.9.38 failed) typesets instead")
    assert line.removeprefix("copycost: ") in caplog.text


def test_a_fault_of_the_report_itself_is_not_hidden_by_another_typesetter(
    qmd: Path, tmp_path: Path
) -> None:
    qmd.write_text(QMD + "See @tbl-nowhere.\n")
    program = fake_quarto(tmp_path, f"echo html > report.html; {DEAD_REFERENCE}")
    outputs = {"html": qmd.with_suffix(".html")}
    with pytest.raises(CopycostError, match="tbl-nowhere"):
        render_report(qmd, outputs, STYLE, Typesetter(program, "Quarto 1.9"))
    assert not outputs["html"].exists()
