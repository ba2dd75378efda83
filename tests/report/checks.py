"""What must hold for every finished report, whoever typeset it: `check_html`, `check_pdf`."""

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import axe_playwright_python
import pdfplumber
from pdfminer.pdftypes import resolve1
from pdfplumber.page import PDFPageAggregatorWithMarkedContent as Reader
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PHONE, DESKTOP = 390, 1280
"""Their widths in px."""

HTML_MOST_BYTES = 4_000_000
FIGURE_TEXT_LEAST_PX = 8.0
"""Of the smallest words in a figure, on a phone."""

_SMALLEST = {454: 6.2, 760: 10.0, 640: 10.0}
"""The size of those words by the width of the figure, both in its own units."""

_AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")

MARGIN_PT = 2.5 / 2.54 * 72
SLACK_PT = 3.0
"""Full stops and hyphens hang into the margin a little, so that it looks straight."""

_UNRESOLVED = re.compile(r"\?@|@(fig|tbl|sec)-|\{#|\{\{|\}\}|:::|\]\(|\bnan\b|Undefined")
_REFERENCE = re.compile(r"\b(Figure|Table|Section)\s((?:[0-9]+|[A-Z]\b)(?:\.[0-9]+)*)")
_CAPTION = re.compile(r"(Figure|Table)\s([0-9]+)[.:]\s")


def chromium() -> str | None:
    """Return the path of a Chromium, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    return None


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start a headless Chromium, which takes as long as looking at a page: use one for many."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=list(CHROMIUM_OPTIONS)
        )
        try:
            yield browser
        finally:
            browser.close()


def check_html(path: Path, browser: Browser) -> None:
    """Check what a reader would notice of the page, on either screen and in either colours."""
    assert path.stat().st_size <= HTML_MOST_BYTES, f"{path.stat().st_size} bytes"
    for width in (PHONE, DESKTOP):
        with closing(browser.new_page(viewport={"width": width, "height": 844})) as page:
            _check_at_width(page, path, width)
    _check_without_script(browser, path)


def _check_access(page: Page) -> None:
    """Let axe-core look at the open page: rules of WCAG 2 and best practices.

    What a drawing consists of goes away before: it is one picture, and would take minutes.
    """
    page.evaluate(
        "document.querySelectorAll('figure svg :is(g, path, use, rect)').forEach(it => it.remove())"
    )
    page.evaluate(_AXE.read_text(encoding="utf-8"))
    # for those who prefer the dark, all that is another is the colours
    by_colours = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
    for scheme, rules in (("light", {}), ("dark", {"runOnly": by_colours})):
        page.emulate_media(color_scheme=scheme)
        found = page.evaluate(
            "rules => axe.run(document, {resultTypes: ['violations'], ...rules})", rules
        )
        told = [
            f"{violation['id']}: {violation['help']}: {violation['nodes'][0]['html'][:200]}"
            for violation in found["violations"]
        ]
        assert not told, "\n".join([scheme, *told])


def _check_without_script(browser: Browser, path: Path) -> None:
    """What is folded must be there to be opened, whether or not a script runs."""
    with closing(browser.new_page(java_script_enabled=False)) as page:
        page.goto(path.resolve().as_uri())
        for summary in page.locator("details > summary").all():
            summary.click()
            assert summary.locator("xpath=..").get_attribute("open") is not None


def _check_at_width(page: Page, path: Path, width: int) -> None:
    complaints: list[str] = []
    requests: list[str] = []
    page.on(
        "console",
        lambda it: complaints.append(it.text) if it.type in ("error", "warning") else None,
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.resolve().as_uri())
    _check_figures(page, path)
    _check_references(page)
    page.evaluate("document.querySelectorAll('details').forEach(box => { box.open = true; })")
    text = page.inner_text("body")
    assert not (found := _UNRESOLVED.search(text)), _around(text, found)
    widths = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert widths[0] <= widths[1], f"the page is {widths[0]} px wide in a window of {width} px"
    assert float(page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)")) >= 15
    outside = [url for url in requests if url != path.resolve().as_uri()]
    outside = [url for url in outside if not url.startswith("data:")]
    assert not outside, f"requests leave the file: {outside}"
    if width == PHONE:  # once: it takes seconds
        _check_access(page)
    assert not complaints, complaints


def _check_figures(page: Page, path: Path) -> None:
    pictures = page.evaluate(
        """[...document.querySelectorAll('img, figure svg')].map(picture => ({
            name: picture.closest('figure')?.id || picture.id,
            alt: picture.alt || picture.getAttribute('aria-label'),
            natural: picture.naturalWidth ?? picture.viewBox.baseVal.width,
            shown: picture.getBoundingClientRect().width,
            drawn: picture.naturalWidth ?? picture.querySelectorAll('path, rect, use').length,
            files: [...(picture.closest('figure')?.querySelectorAll('figcaption a') || [])]
                .map(link => link.getAttribute('href')).filter(href => !href.startsWith('#'))}))"""
    )
    assert pictures, "no figure at all"
    for picture in pictures:
        assert picture["natural"] > 0, picture
        assert picture["drawn"] > 0, picture
        assert picture["shown"] > 100, picture
        assert picture["alt"], picture
        smallest = _SMALLEST.get(round(picture["natural"]), 10.0)
        least = smallest * picture["shown"] / picture["natural"]
        assert least >= FIGURE_TEXT_LEAST_PX, f"{least:.1f} px: {picture}"
        for file in picture["files"]:
            assert (path.parent / file).is_file(), f"{picture['name']}: no {file} next to the page"


def _check_references(page: Page) -> None:
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(element => element.id)")
    twice = [name for name, count in Counter(ids).items() if count > 1]
    assert not twice, f"ids used twice: {twice}"
    links = page.evaluate("[...document.links].map(link => link.getAttribute('href'))")
    targets = {link[1:] for link in links if link.startswith("#")}
    assert targets, "no reference at all"
    assert targets <= set(ids), f"references to nothing: {sorted(targets - set(ids))}"
    # In one call: each costs a round trip to the browser.
    ends = page.evaluate(
        """targets => targets.map(target => {
            location.hash = target;
            return document.getElementById(target).getBoundingClientRect().top;
        })""",
        sorted(targets),
    )
    height = page.evaluate("innerHeight")
    for target, top in zip(sorted(targets), ends, strict=True):
        assert -1 <= top < height, f"the jump to #{target} ends {top} px off"


def check_pdf(path: Path) -> None:
    """Read every page of the PDF and check what a printer or a reader would notice."""
    with pdfplumber.open(path) as pdf, _missing_glyphs() as missing:
        texts: list[str] = []
        captions: list[tuple[str, int]] = []
        for page in pdf.pages:
            leave_out_paths(page)
            lines = page.extract_text_lines(return_chars=True)
            _check_margins(page)
            _check_overlaps(page)
            _check_page_end(page, lines)
            texts.append(page.extract_text(x_tolerance=2))
            captions += _captions(lines)
            page.close()  # what was read of it takes much memory
    _check_numbers("\n".join(texts), captions)
    text = " ".join(texts)
    assert "\N{REPLACEMENT CHARACTER}" not in text
    assert not (found := _UNRESOLVED.search(text)), _around(text, found)
    assert "Typeset by" in texts[-1], "the last page does not say what typeset it"
    assert not missing, f"characters that the fonts lack: {missing}"


def _check_margins(page: Any) -> None:  # noqa: ANN401
    left, right = MARGIN_PT - SLACK_PT, float(page.width) - MARGIN_PT + SLACK_PT
    for char in page.chars:
        # Spaces at the end of a line hang into the margin, which nobody sees.
        beside = char["text"].strip() and (char["x0"] < left or char["x1"] > right)
        assert not beside, f"page {page.page_number}: {_line_of(page, char)!r} beyond the margin"
        assert 20 < char["top"] < float(page.height) - 20
    # Drawings are looked at as a picture: what is clipped away in a figure is nobody's concern.
    picture = page.to_image(resolution=72).original.convert("L")
    strips = {
        "left": (0, 0, int(left) - 12, picture.height),
        "right": (int(right) + 12, 0, picture.width, picture.height),
        "top": (0, 0, picture.width, 20),
        "bottom": (0, picture.height - 20, picture.width, picture.height),
    }
    for side, strip in strips.items():
        darkest = picture.crop(strip).getextrema()[0]
        assert darkest > 250, f"page {page.page_number}: something drawn in the {side} margin"


def _line_of(page: Any, char: dict[str, Any]) -> str:  # noqa: ANN401
    row = [other for other in page.chars if abs(other["bottom"] - char["bottom"]) < 1]
    return "".join(other["text"] for other in sorted(row, key=lambda other: other["x0"]))


def _check_overlaps(page: Any) -> None:  # noqa: ANN401
    """Fail where a text runs into its neighbour, as in a column that is too narrow."""
    placed = sorted((round(char["bottom"]), char["x0"], at) for at, char in enumerate(page.chars))
    for (row, _, one_at), (next_row, _, next_at) in pairwise(placed):
        one, next_one = page.chars[one_at], page.chars[next_at]
        most = max(0.6 * min(one["width"], next_one["width"]), 1.5)
        assert row != next_row or one["x1"] - next_one["x0"] < most, (
            f"page {page.page_number}: overlap in {_line_of(page, one)!r}"
        )


def _check_page_end(page: Any, lines: Sequence[dict[str, Any]]) -> None:  # noqa: ANN401
    """Fail where a heading, or the caption of a table, is the last thing on a page.

    A caption is in a type of its own, so that its last lines are known by their size.
    """
    body = [line for line in lines if line["bottom"] < float(page.height) - 55]
    last = body[-1]
    sizes = {round(char["size"], 1) for char in last["chars"]}
    bold = all("Bold" in char["fontname"] for char in last["chars"] if char["text"].strip())
    assert not (bold and min(sizes) > 10.4), f"page {page.page_number} ends with {last['text']!r}"
    size = _type_size(last)
    same = list(takewhile(lambda line: _type_size(line) == size, reversed(body)))
    caption = [line for line in same if re.match(r"Table\s\d+[.:]", line["text"])]
    assert not caption, f"page {page.page_number}: {caption[0]['text']!r} alone"


def _type_size(line: dict[str, Any]) -> float:
    """Return the size of most of a line's letters, in points: code in it is set smaller."""
    sizes = Counter(round(char["size"], 1) for char in line["chars"] if char["text"].strip())
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _captions(lines: Sequence[dict[str, Any]]) -> Iterator[tuple[str, int]]:
    """Yield kind and number of the captions on a page; other lines may begin with the same words.

    A caption is in smaller type than the text.
    """
    for line in lines:
        found = _CAPTION.match(line["text"])
        if found and line["chars"][0]["size"] < 10.0:
            yield found[1], int(found[2])


def _check_numbers(text: str, captions: list[tuple[str, int]]) -> None:
    for noun in ("Figure", "Table"):
        numbers = [number for kind, number in captions if kind == noun]
        assert numbers == list(range(1, len(numbers) + 1)), f"captions of {noun}: {numbers}"
    known = {(noun, str(number)) for noun, number in captions}
    headings = set(re.findall(r"^((?:\d+|[A-Z])(?:\.\d+)*)\s\S", text, re.MULTILINE))
    for noun, number in _REFERENCE.findall(text):
        exists = number in headings if noun == "Section" else (noun, number) in known
        assert exists, f"{noun} {number} is referred to and does not exist"


@contextmanager
def _missing_glyphs() -> Iterator[list[str]]:
    """Yield a list in which to find every character that is set as the glyph "not defined"."""
    found: list[str] = []
    render_char = Reader.render_char

    def noting(reader: Reader, *args: Any, **kwargs: Any) -> float:  # noqa: ANN401
        font, cid = args[1], args[5]
        if cid == 0 and font.is_multibyte():
            found.append(f"page {reader.pageno} in {font.fontname}")
        return float(render_char(reader, *args, **kwargs))

    with patch.object(Reader, "render_char", noting):
        yield found


_PATH_SEGMENTS = re.compile(rb"(?<=\s)(?:(?:-?[0-9.]+ )+[mlc]\s+)+")


def leave_out_paths(page: Any) -> None:  # noqa: ANN401
    """Forget the lines of drawings before a page is read: they are most of it, and no text."""
    for reference in page.page_obj.contents:
        stream = resolve1(reference)
        stream.data = _PATH_SEGMENTS.sub(b"", stream.get_data())


def _around(text: str, found: re.Match[str]) -> str:
    return f"unresolved: ...{text[max(0, found.start() - 60) : found.end() + 60]!r}..."
