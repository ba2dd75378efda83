"""Flame graphs of all profiles as SVG: static in a page, searchable and zoomable when opened alone.

Source: B. Gregg, The Flame Graph, Communications of the ACM 59 (2016), for the form: width is time,
what lies on a frame was called by it, order along the row is by name.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pandas as pd

from copycost.records.cpu_attribution import EMULATED
from copycost.studies.profile.cell_facts import label_of
from copycost.studies.profile.functions import Categories, Stack, plain_name
from copycost.studies.profile.grid import CellKey, flame_figure, parties_on
from copycost.studies.profile.tables import Repetition, by_cell, samples_of
from copycost.wording.filters import exact_size
from copycost.wording.words import party, plural

WIDTH = 760.0
"""Width of the picture in its own units; on a page of 16 cm a letter is then 2.2 mm high."""

_ROW = 14.0
_HEAD = 34.0
_FOOT = 8.0
_FONT = 10.0
_LETTER = 0.602 * _FONT  # advance of every letter of DejaVu Sans Mono
_FACE = "DejaVu Sans Mono, monospace"
_LEAST = 0.001  # of all, what is drawn
_SCRIPT = Path(__file__).with_name("flame.js")


def lay_out(stacks: Mapping[Stack, float]) -> Iterator[tuple[Stack, float, float]]:
    """Yield every call path with its left end and its weight, callers first, then by name.

    The first path is the empty one, whose weight is that of all stacks.
    """
    weights: dict[Stack, float] = defaultdict(float)
    for stack, weight in stacks.items():
        for depth in range(len(stack) + 1):
            weights[stack[:depth]] += weight
    begins: dict[Stack, float] = {(): 0.0}  # by path, where the next one that it calls begins
    for path in sorted(weights):
        left = begins[path[:-1]]
        begins[path[:-1]] = left + weights[path]
        begins[path] = left
        yield path, left, weights[path]


def flame_graph(
    title: str, root: str, stacks: Mapping[Stack, float], categories: Categories
) -> str:
    """Return a flame graph of one side, coloured by what each function does.

    `root` names the lowest frame, the side; weights are in any unit.
    """
    frames = list(lay_out(stacks))
    total = frames[0][2]
    frames = [frame for frame in frames if frame[2] >= _LEAST * total]
    # a lock or the like works for its caller
    kinds = {path: categories.of_stack(path) for path, _, _ in frames[1:]}
    shown = set(kinds.values())
    key, head = _key({name: hue for name, hue in categories.colours.items() if name in shown})
    height = head + (1 + max(map(len, kinds))) * _ROW + _FOOT
    search = 'class="search" text-anchor="end" role="button" tabindex="0"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}"'
        f' width="{WIDTH:g}" height="{height:g}" data-width="{WIDTH:g}" data-letter="{_LETTER:g}"'
        f' font-size="{_FONT:g}" font-family="{_FACE}" fill="#222222">',
        f"<title>{escape(title)}</title>",
        _box(0, 0, WIDTH, height, "#ffffff"),
        _text(1.5, 12, title, f'style="font-size:{_FONT + 1:g}px"'),
        *key,
        _text(WIDTH - 90, 25, "", 'class="found" text-anchor="end"'),
        _text(WIDTH - 4, 25, "search (/)",
              f'{search} style="display:none;cursor:pointer;fill:#0072b2"'),
    ]  # fmt: skip
    for path, left, weight in frames:
        x, width = left / total * WIDTH, weight / total * WIDTH
        y = height - _FOOT - (len(path) + 1) * _ROW
        name = plain_name(path[-1]) if path else root
        hue = categories.colours[kinds[path]] if path else "#f0f0f0"
        parts.append(
            f'<g class="f" data-name={quoteattr(name)}>'
            f"<title>{escape(name)}: {100 * weight / total:.2f} %</title>"
            f"{_box(x, y, max(width - 0.3, 0.2), _ROW - 1, hue)}"
            f"{_text(x + 1.5, y + _ROW - 4, _fitting(name, width))}</g>"
        )
    script = _SCRIPT.read_text(encoding="utf-8")
    parts.append(f"<script><![CDATA[\n{script}]]></script>\n</svg>")
    return "\n".join(parts) + "\n"


def _key(colours: Mapping[str, str]) -> tuple[list[str], float]:
    """Return the key of the colours, in as many rows as it needs, and where the graph begins."""
    parts, x, y = [], 1.5, _HEAD
    for name, hue in colours.items():
        width = (len(name) + 4) * _LETTER
        if x + width > WIDTH:
            x, y = 1.5, y + _ROW
        parts.append(_box(x, y, 9, 9, hue, 'stroke="#8a8a8a" stroke-width="0.5"'))
        parts.append(_text(x + 13, y + 8.5, name.replace("_", " ")))
        x += width
    return parts, y + _ROW + 6


def _box(
    x: float, y: float, width: float, height: float, hue: str, attributes: str = 'rx="1"'
) -> str:
    size = f'width="{width:.2f}" height="{height:g}"'
    return f'<rect x="{x:.2f}" y="{y:g}" {size} fill="{hue}" {attributes}/>'


def _text(x: float, y: float, text: str, attributes: str = "") -> str:
    return f'<text x="{x:.2f}" y="{y:g}" {attributes}>{escape(text)}</text>'


def _fitting(name: str, width: float) -> str:
    """Return as much of a name as fits into a frame of this width, '' if that says nothing."""
    room = int((width - 3) / _LETTER)
    if room < 3:
        return ""
    return name if len(name) <= room else name[: room - 1] + "…"


def draw_all(repetitions: Sequence[Repetition], categories: Categories, folder: Path) -> None:
    """Write every picture of `figure_names`, ``NAME.svg`` and ``NAME.csv``."""
    folder.mkdir(parents=True, exist_ok=True)
    measured = by_cell(repetitions)
    for key in dict.fromkeys(one.key for one in repetitions):
        cell = measured.get(key, [])
        for side in parties_on(key.testbed):
            path = folder / f"{flame_figure(key, side)}.svg"
            shares = [one.own(lambda stack: stack) for one in samples_of(cell, side)]
            stacks: dict[Stack, float] = defaultdict(float)  # each repetition with the same weight
            for stack, share in (item for one in shares for item in one.items()):
                stacks[stack] += share / len(shares)
            title = f"{_about(key, cell)}: {party(side)}"
            # the report shows no picture of what was not measured
            unmeasured = f"<title>{title}: not measured</title>"
            svg = f'<svg xmlns="http://www.w3.org/2000/svg">{unmeasured}</svg>'
            if stacks:
                svg = flame_graph(title, party(side), stacks, categories)
            path.write_text(svg, encoding="utf-8")
            rows = [
                ("measured", side, ";".join(stack), share)
                for stack, share in sorted(stacks.items(), key=lambda item: (-item[1], item[0]))
            ]
            table = pd.DataFrame(rows, columns=["state", "side", "call_path", "own_share"])
            table.to_csv(path.with_suffix(".csv"), index=False, lineterminator="\n")


def _about(key: CellKey, cell: Sequence[Repetition]) -> str:
    label, threads = label_of(cell), plural(int(key.n_threads), "thread")
    name = key.implementation if label is None else f"{key.implementation} ({label})"
    emulated = ", emulated" if cell and cell[0].run.accelerator == EMULATED else ""
    return f"{name}, {exact_size(key.msg_bytes)}, {threads}, {key.condition}{emulated}"
