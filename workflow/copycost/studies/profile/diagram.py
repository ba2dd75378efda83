"""The way of a message as a diagram: boxes from the measured stacks, copies marked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import escape

from copycost.figures.outline import outline_text
from copycost.studies.profile.paths import Box

Transport = Literal["stream", "datagram"]

WIDTH = 760.0
_COLUMN = 350.0
_GAP = 60.0
_BOX = 40.0
_STEP = 50.0
_TOP = 58.0
_INK, _QUIET, _COPY, _PLAIN = "#222222", "#5f5f5f", "#f9d9c7", "#eef2f6"
_SIDES = (("sender", "#0072B2"), ("receiver", "#00664b"))
# boxes that only some ways to send have are left out where not seen; all others are drawn empty
_OPTIONAL = frozenset({"application_copy", "pinning", "deferred_copy", "notification"})
_LEAST_PERCENT = 0.05


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured in a box.

    Attributes
    ----------
    cpu_percent : dict
        By side, the CPU that the box takes in that side's task, in percent of one CPU.
    function : str
        The function by which most samples came there, '' if there were none.
    """

    cpu_percent: Mapping[str, float]
    function: str

    @property
    def seen(self) -> bool:
        """Whether it is worth a number."""
        return any(value >= _LEAST_PERCENT for value in self.cpu_percent.values())


def data_path_diagram(
    title: str,
    boxes: Sequence[Box],
    measured: Mapping[str, Measured],
    totals: Mapping[str, float],
    transport: Transport,
) -> str:
    """Return the diagram as SVG, its letters drawn as outlines.

    Parameters
    ----------
    title : str
        Stands above it.
    boxes : sequence of Box
        In the order of the way.
    measured : mapping
        By box.
    totals : mapping
        By side, its CPU use in percent of one CPU.
    transport : str
        Which of the boxes' titles to take.
    """
    shown = [box for box in boxes if box.name not in _OPTIONAL or _seen(measured, box)]
    down = [box for box in shown if box.lane == "down"]
    link = [box for box in shown if box.lane == "link"]
    up = [box for box in reversed(shown) if box.lane == "up"]  # drawn from the top
    rows = max(len(down), len(up))
    bottom = _TOP + rows * _STEP
    height = bottom + _STEP + 40
    right = _COLUMN + _GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}"'
        f' width="{WIDTH:g}" height="{height:g}">',
        f'<rect width="{WIDTH:g}" height="{height:g}" fill="#ffffff"/>',
        _text(0, 14, title, weight="bold", size=13),
    ]
    parts += [
        _text(0, 44, "sending", weight="bold"),
        _text(right, 44, "receiving", weight="bold"),
        *_totals(totals, bottom + _STEP + 18),
    ]
    for x, column, downwards in ((0.0, down, True), (right, up, False)):
        # both lanes end where the link is
        first = bottom - len(column) * _STEP
        for index, box in enumerate(column):
            y = first + index * _STEP
            parts += _draw(x, y, _COLUMN, box, measured.get(box.name), transport)
            parts.append(_arrow(x + 20, y + _BOX, y + _STEP, downwards))
    for box in link:
        parts += _draw(0, bottom, WIDTH, box, measured.get(box.name), transport)
    parts.append("</svg>")
    return outline_text("\n".join(parts))


def _seen(measured: Mapping[str, Measured], box: Box) -> bool:
    return box.name in measured and measured[box.name].seen


def _draw(
    x: float, y: float, width: float, box: Box, found: Measured | None, transport: Transport
) -> list[str]:
    seen = found is not None and found.seen
    fill = "#ffffff" if not seen else _COPY if box.copies else _PLAIN
    edge = "#d55e00" if box.copies and seen else "#8a8f95"
    dash = "" if seen else ' stroke-dasharray="4 3"'
    title = box.titles[transport] + (" (a copy)" if box.copies else "")
    parts = [
        f'<rect x="{x:g}" y="{y:g}" width="{width - 0.5:g}" height="{_BOX:g}" rx="3"'
        f' fill="{fill}" stroke="{edge}" stroke-width="{2 if box.copies and seen else 1}"{dash}/>',
        _text(x + 8, y + 17, title, weight="bold"),
    ]
    if not seen or found is None:
        parts.append(_text(x + 8, y + 32, "no samples", colour=_QUIET, size=10))
        return parts
    parts.append(_text(x + 8, y + 32, found.function, colour=_QUIET, size=10, face="monospace"))
    for row, (side, colour) in enumerate(_SIDES):
        value = found.cpu_percent.get(side, 0.0)
        if value >= _LEAST_PERCENT:
            words = f"{side} {value:.1f} %"
            parts.append(_text(x + width - 8, y + 17 + 15 * row, words, colour, 11, anchor="end"))
    return parts


def _totals(totals: Mapping[str, float], y: float) -> list[str]:
    used = [f"{side} {totals[side]:.0f} %" for side, _ in _SIDES if side in totals]
    words = f"Percent of one CPU, in the task of the side named; in all {', '.join(used)}."
    return [_text(0, y, words, colour=_QUIET, size=11)]


def _arrow(x: float, top: float, bottom: float, downwards: bool) -> str:
    start, tip = (top, bottom) if downwards else (bottom, top)
    back = tip - 5 if downwards else tip + 5
    return (
        f'<path d="M{x:g} {start:g}V{back:g}M{x - 4:g} {back:g}L{x:g} {tip:g}L{x + 4:g} {back:g}Z"'
        f' stroke="{_QUIET}" stroke-width="1.2" fill="{_QUIET}"/>'
    )


def _text(
    x: float,
    y: float,
    text: str,
    colour: str = _INK,
    size: float = 12,
    *,
    weight: str = "normal",
    face: str = "sans-serif",
    anchor: str = "start",
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" font-family="{face}"'
        f' font-weight="{weight}" fill="{colour}" text-anchor="{anchor}">{escape(text)}</text>'
    )
