"""Whole reports of each kind by a real Quarto: sound, and like the embedded default's."""

import json
import logging
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pdfplumber
import pytest
from playwright.sync_api import Browser
from report.checks import check_html, check_pdf, leave_out_paths
from report.example import write_example
from synthetic import Run, Udp
from unit.compare.hosts.made import real
from unit.compare.runs.made import Made, write_results

from copycost.__main__ import main
from copycost.build.typesetter import Typesetter, find_typesetter
from copycost.config.checkout import ROOT
from copycost.report.typeset import render_report
from tools.simulate_fleet import make_fleet

pytestmark = [pytest.mark.slow, pytest.mark.needs_quarto]

EMBEDDED = Typesetter(None, "the embedded default")


def run(folder: Path) -> Path:
    sizes = Run(msg_bytes=(4096, 65536), n_threads=(1, 2), udp=Udp(msg_bytes=(4096, 16384)))
    qmd = write_example(sizes, folder, whole=True)
    render_report(qmd, ["html", "pdf"], find_typesetter())
    return qmd


def audit(folder: Path) -> Path:
    table = ROOT / "data" / "published" / "i5-10500.csv"
    assert main(["audit", str(table), "--output", str(folder)]) == 0
    return folder / "report.qmd"


def comparison(folder: Path) -> Path:
    a, b = write_results(folder / "a"), write_results(folder / "b", Made(seed=2, start_s=100_000))
    assert main(["compare", str(a), str(b), "--output", str(folder / "out")]) == 0
    return folder / "out" / "report.qmd"


def fleet(folder: Path) -> Path:
    for _ in make_fleet(real(folder), folder / "fleet", 4, 100):
        pass
    assert main(["merge", "--into", str(folder / "fleet")]) == 0
    return folder / "fleet" / "report" / "report.qmd"


@dataclass(frozen=True)
class Reports:
    """One report by both typesetters; what each said in the log."""

    quarto: Path
    embedded: Path
    said: str


@pytest.fixture(scope="module", params=[run, audit, comparison, fleet], ids=lambda it: it.__name__)
def reports(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    folder = tmp_path_factory.mktemp(request.param.__name__)
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    log = logging.getLogger("copycost.report.typeset")
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    quarto = request.param(folder / "made").parent
    log.removeHandler(handler)
    embedded = Path(shutil.copytree(quarto, folder / "embedded"))
    render_report(embedded / "report.qmd", ["html", "pdf"], EMBEDDED)
    return Reports(quarto, embedded, "\n".join(lines))


def test_quarto_typesets_both_formats_without_a_warning(reports: Reports) -> None:
    by = json.loads((reports.quarto / "typesetters.json").read_text())
    assert set(by) == {"html", "pdf"}
    assert all(name.startswith("Quarto 1.") for name in by.values())
    assert "quarto said" in reports.said
    assert not re.search(r"warn", reports.said, re.IGNORECASE), reports.said


OUTLINE = """() => ({
  headings: [...document.querySelectorAll('main :is(h1, h2, h3, h4, h5)')].map(it => it.innerText),
  contents: [...document.querySelectorAll('#TOC a')].map(it => it.innerText),
  captions: [...document.querySelectorAll('figcaption, .caption')].map(it => it.innerText),
  tables: [...document.querySelectorAll('table')].map(it => it.innerText),
  figures: document.querySelectorAll('figure svg').length,
  boxes: [...document.querySelectorAll('[role=region]')].map(it => it.ariaLabel),
  ruled: document.querySelectorAll('tr.group-start').length,
  notes: [...document.querySelectorAll('blockquote')].map(it => it.innerText),
  folded: document.querySelectorAll('details').length})"""


@pytest.mark.needs_chromium
def test_page_is_sound_and_has_the_same_parts_with_the_same_numbers_as_the_other(
    reports: Reports, browser: Browser
) -> None:
    check_html(reports.quarto / "report.html", browser)
    outlines = []
    for folder in (reports.quarto, reports.embedded):
        page = browser.new_page(java_script_enabled=False)
        page.goto((folder / "report.html").as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true; })")
        outlines.append(page.evaluate(OUTLINE))
        page.close()
    quarto, embedded = outlines
    assert len(quarto["headings"]) > 3
    for part, found in quarto.items():
        assert found == embedded[part], part


def test_pdf_is_sound_and_has_the_same_words_in_the_same_order_as_the_other(
    reports: Reports,
) -> None:
    check_pdf(reports.quarto / "report.pdf")
    assert words(reports.quarto / "report.pdf") == words(reports.embedded / "report.pdf")


def words(pdf: Path) -> list[str]:
    """Return the words of a PDF, whose fonts are to be those that come with Typst."""
    texts = []
    with pdfplumber.open(pdf) as opened:
        for page in opened.pages:
            leave_out_paths(page)
            texts.append(page.extract_text())
            fonts = {char["fontname"].split("+")[-1] for char in page.chars}
            assert all(re.match(r"LibertinusSerif|DejaVuSansMono|NewCM", name) for name in fonts)
            page.close()
    return re.sub(r"Typeset by [^()]*(\([^)]*\))?\.", "", " ".join(texts)).split()


@pytest.mark.parametrize("reports", [run], indirect=True, ids=["run"])
def test_the_same_report_is_the_same_file(reports: Reports, tmp_path: Path) -> None:
    again = tmp_path / "again"
    shutil.copytree(reports.quarto, again)
    render_report(again / "report.qmd", ["pdf"], find_typesetter())
    assert (again / "report.pdf").read_bytes() == (reports.quarto / "report.pdf").read_bytes()
