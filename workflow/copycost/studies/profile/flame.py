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
from copycost.studies.profile.grid import CellKey, flame_figure, parties_on, slug_of
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
_LEAST = 0.001
_SCRIPT = Path(__file__).with_name("flame.js")

# the Okabe-Ito colours, lightened, so that black letters can be read on them
CATEGORY_COLOURS = {
    "user": "#d9d9d9",
    "user_copy": "#f4a582",
    "system_call": "#c7d9ec",
    "copy": "#ee7f4f",
    "deferred_copy": "#d95f3b",
    "pinning": "#e8c468",
    "notification": "#f0e09a",
    "protocol": "#9ecae1",
    "device": "#a8d5c2",
    "virtio": "#9fd3d6",
    "e1000": "#9fd3d6",
    "tap": "#8fc4a0",
    "bridge": "#c9e3a8",
    "vhost": "#8fb8a0",
    "kvm": "#e3c1a0",
    "events": "#f6b7c1",
    "hypervisor": "#d8cfc0",
    "hypervisor_copy": "#f4a582",
    "emulator": "#e6e0ee",
    "softirq": "#c5e0b4",
    "allocation": "#d4c2e0",
    "scheduling": "#f3c6d9",
    "tracing": "#bdbdbd",
    "uncategorised": "#f7f7f7",
}
_NO_CATEGORY = "#f0f0f0"


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

    def category(path: Stack) -> str | None:
        # a lock or the like works for its caller
        found = (categories.of_frame(frame) for frame in reversed(path))
        return next((name for name in found if name is not None), None)

    shown = {category(path) for path, _, _ in frames[1:]}
    key = [(hue, name.replace("_", " ")) for name, hue in CATEGORY_COLOURS.items() if name in shown]
    key += [(_NO_CATEGORY, "of no category")] if None in shown else []
    key_parts, head = _key(key)
    height = head + (1 + max(len(path) for path, _, _ in frames)) * _ROW + _FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}"'
        f' width="{WIDTH:g}" height="{height:g}" data-width="{WIDTH:g}" data-letter="{_LETTER:g}"'
        f' font-size="{_FONT:g}" font-family="{_FACE}" fill="#222222">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH:g}" height="{height:g}" fill="#ffffff"/>',
        _text(1.5, 12, title, f'style="font-size:{_FONT + 1:g}px"'),
        *key_parts,
        _text(WIDTH - 90, 25, "", 'class="found" text-anchor="end"'),
        _text(
            WIDTH - 4,
            25,
            "search (/)",
            'class="search" text-anchor="end" role="button"'
            ' tabindex="0" style="display:none;cursor:pointer;fill:#0072b2"',
        ),
    ]
    scale = WIDTH / total
    for path, left, weight in frames:
        x, width = left * scale, weight * scale
        y = height - _FOOT - (len(path) + 1) * _ROW
        name = plain_name(path[-1]) if path else root
        tip = f"{name}: {100 * weight / total:.2f} %"
        of = category(path)
        hue = _NO_CATEGORY if of is None else CATEGORY_COLOURS.get(of, "#f7f7f7")
        parts.append(
            f'<g class="f" data-name={quoteattr(name)}><title>{escape(tip)}</title>'
            f'<rect x="{x:.2f}" y="{y:g}" width="{max(width - 0.3, 0.2):.2f}" height="{_ROW - 1:g}"'
            f' rx="1" fill="{hue}"/>'
            f"{_text(x + 1.5, y + _ROW - 4, fitting(name, width))}</g>"
        )
    script = _SCRIPT.read_text(encoding="utf-8")
    parts.append(f"<script><![CDATA[\n{script}]]></script>\n</svg>")
    return "\n".join(parts) + "\n"


def _key(key: Sequence[tuple[str, str]]) -> tuple[list[str], float]:
    """Return the key of the colours, in as many rows as it needs, and where the graph begins."""
    parts, x, y = [], 1.5, _HEAD
    for hue, words in key:
        width = (len(words) + 4) * _LETTER
        if x + width > WIDTH:
            x, y = 1.5, y + _ROW
        parts.append(f'<rect x="{x:.2f}" y="{y:g}" width="9" height="9" fill="{hue}"'
                     ' stroke="#8a8a8a" stroke-width="0.5"/>')  # fmt: skip
        parts.append(_text(x + 13, y + 8.5, words))
        x += width
    return parts, y + _ROW + 6


def _text(x: float, y: float, text: str, attributes: str = "") -> str:
    return f'<text x="{x:.2f}" y="{y:g}" {attributes}>{escape(text)}</text>'


def fitting(name: str, width: float) -> str:
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
        cell = measured.get(key, ())
        for side in parties_on(key.testbed):
            path = folder / f"{flame_figure(slug_of(key), side)}.svg"
            title, stacks = f"{_about(key, cell)}: {party(side)}", _together(cell, side)
            # the report shows no picture of what was not measured
            svg = (
                '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 20" width="760"'
                f' height="20"><title>{title}: not measured</title></svg>\n'
            )
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


def _together(cell: Sequence[Repetition], side: str) -> dict[Stack, float]:
    """Return the shares of a side's stacks, of each repetition with the same weight."""
    present = samples_of(cell, side)
    stacks: dict[Stack, float] = defaultdict(float)
    for one in present:
        for stack, share in one.own(lambda stack: stack).items():
            stacks[stack] += share / len(present)
    return stacks
