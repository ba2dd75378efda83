import sys
from pathlib import Path

import pytest

from copycost.errors import CopycostError, HostError
from copycost.report import quarto
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


@pytest.mark.parametrize("version", ["1.4.0", "1.10.2", "2.0", "1.9.23-rc1"])
def test_recent_quarto_is_taken(tmp_path: Path, version: str) -> None:
    program = fake_quarto(tmp_path, f"echo {version}")
    assert find_typesetter(str(tmp_path)) == Typesetter(program, f"Quarto {version}")


def test_old_quarto_is_left_aside_and_said_so(tmp_path: Path) -> None:
    fake_quarto(tmp_path, "echo 1.3.450")
    found = find_typesetter(str(tmp_path))
    assert found.quarto is None
    assert "Quarto 1.3.450 is older than 1.4" in found.description


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


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("echo first >&2; echo 'ERROR: no Deno' >&2; exit 1", "ERROR: no Deno"),
        ("exit 0", "it says: nothing"),
    ],
)
def test_failing_quarto_is_one_clear_sentence(
    qmd: Path, tmp_path: Path, script: str, says: str
) -> None:
    program = fake_quarto(tmp_path, script)
    with pytest.raises(CopycostError, match=r"Quarto 1\.9 cannot typeset") as caught:
        quarto.render(qmd, program, "Quarto 1.9", "html")
    assert says in str(caught.value)
    assert "take it off the PATH" in str(caught.value)
    assert not qmd.with_suffix(".html").exists()
