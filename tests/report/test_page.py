"""What the page does beyond showing: folding, sorting, filtering, tips, search, the dark."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure
from playwright.sync_api import Browser, Page
from report.checks import check_html
from report.example import REPORT, write_page

from copycost.figures.output import save
from copycost.figures.tables import Drawn
from copycost.figures.text import add_tips
from copycost.report import typeset
from copycost.studies.profile.flame import flame_graph
from copycost.studies.profile.functions import load_categories
from copycost.wording.markdown import figure, pipe_table

pytestmark = pytest.mark.needs_chromium

CATEGORIES = REPORT.parent / "data/functions"
TEXT = """---
title: T
---

# First {#sec-first}

See @sec-inside, @fig-points, @fig-flame and @tbl-cells.

FIGURES

# Method {#sec-method .folded}

## Inside {#sec-inside}

Hidden words.

# Cells {#sec-cells}

TABLE

Typeset by a test.

```{=html}
<script type="application/json" id="numbers">{"9.5": ["tables/a.csv: line 2, median"]}</script>
```
"""
COLUMNS = ["Message", "Implementation", ">Gbit/s"]
ROWS = [
    ["1 KiB", "`two_copy`", "9.5"], ["", "`one_copy`", "10.2"],
    ["256 B", "`two_copy`", "---"], ["", "`one_copy`", "1,020"],
]  # fmt: skip


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    drawing = Figure(figsize=(6.3, 2))
    axes = drawing.subplots()
    axes.plot([1, 2], [3, 4])
    add_tips(axes, [1, 2], [3, 4], ["a < b", "one_copy: 4 Gbit/s"])
    data = pd.DataFrame({"value": [3, 4]})
    stacks = {("main", "copy"): 3.0, ("main", "send"): 1.0}
    flame = flame_graph("t", "sender", stacks, load_categories(CATEGORIES))
    figures = [
        figure("assets/points.svg", "fig-points", "Two points", "Points."),
        figure("assets/flame.svg", "fig-flame", "A flame graph", "Flames."),
    ]
    table = pipe_table(COLUMNS, ROWS, "Cells.", "tbl-cells", ["grouped"])
    text = TEXT.replace("FIGURES", "\n\n".join(figures)).replace("TABLE", table)
    qmd = write_page(folder, text)
    assets = qmd.parent / "assets"
    save(Drawn(drawing, data), assets / "points.svg")
    (assets / "flame.svg").write_text(flame)
    (assets / "flame.csv").write_text("stack,weight\n")
    page = folder / "report.html"
    page.write_bytes(typeset.render_html(qmd, "a test"))
    return page


@pytest.fixture
def page(html: Path, browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.goto(html.as_uri())
    yield page
    page.close()


def test_the_page_is_whole(html: Path, browser: Browser) -> None:
    check_html(html, browser)


def test_headings_have_links_and_a_folded_chapter_opens_for_one_and_for_print(
    page: Page, html: Path
) -> None:
    links = page.locator("h1#sec-cells > a.permalink")
    assert links.get_attribute("href") == "#sec-cells"
    assert page.locator("nav").inner_text().splitlines()[-1].endswith("Cells")
    hidden = page.get_by_text("Hidden words.")
    assert not hidden.is_visible()
    page.locator("summary").click()
    assert hidden.is_visible()
    for target in ("sec-inside", "sec-method"):
        page.goto("about:blank")
        page.goto(f"{html.as_uri()}#{target}")
        assert hidden.is_visible()
    page.goto("about:blank")
    page.goto(html.as_uri())
    assert not hidden.is_visible()
    page.emulate_media(media="print")
    assert page.evaluate("document.querySelector('#sec-inside').checkVisibility()")


def test_points_and_numbers_have_tips(page: Page) -> None:
    points = page.locator("#fig-points g.tip")
    assert points.count() == 2
    points.nth(1).hover()
    assert page.locator(".tip-box").inner_text() == "one_copy: 4 Gbit/s"
    points.nth(0).hover()
    assert page.locator(".tip-box").inner_text() == "a < b"
    page.mouse.move(1, 1)
    assert not page.locator(".tip-box").is_visible()
    page.get_by_text("9.5", exact=True).hover()
    assert page.locator(".tip-box").inner_text() == "tables/a.csv: line 2, median"
    page.get_by_text("10.2", exact=True).hover()
    assert not page.locator(".tip-box").is_visible()


def test_a_flame_graph_in_the_page_is_searched(page: Page) -> None:
    page.on("dialog", lambda dialog: dialog.accept("^send$"))
    page.locator("#fig-flame svg .search").click()
    assert page.locator("#fig-flame svg .found").text_content() == "25.0 % in 1 frames match"
    frame = page.locator("#fig-flame g.f[data-name=copy]")
    before = frame.bounding_box()
    frame.click()
    after = frame.bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] > 1.2 * before["width"]
