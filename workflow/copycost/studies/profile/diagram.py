"""The way of a message as a diagram: boxes from the measured stacks, copies marked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from xml.sax.saxutils import escape

from copycost.figures.outline import outline_text
from copycost.studies.profile.paths import Box

Transport = Literal["stream", "datagram"]

WIDTH = 760.0
COLUMN = 350.0
GAP = 60.0
BOX = 40.0
STEP = 50.0
_TOP = 58.0
INK, QUIET = "#222222", "#5f5f5f"
_COPY, _PLAIN = "#f9d9c7", "#eef2f6"
SIDE_COLOURS = {"sender": "#0072B2", "receiver": "#00664b"}
LEAST_PERCENT = 0.05
"""What takes less of a CPU is not worth a number."""
# boxes that only some ways to send have are left out where not seen; all others are drawn empty
_OPTIONAL = frozenset(
    {
        "application_copy", "pinning", "deferred_copy", "notification", "virtio_sends",
        "virtio_receives",
    }
)  # fmt: skip

Label = tuple[str, str]
"""Words at the right of a box, and their colour."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured in a box.

    Attributes
    ----------
    cpu_percent : dict
        By party, the CPU that the box takes there, in percent of one CPU.
    function : str
        The function by which most samples came there, '' if there were none.
    functions : dict
        The same by party.
    """

    cpu_percent: Mapping[str, float]
    function: str
    functions: Mapping[str, str] = field(default_factory=dict)

    @property
    def seen(self) -> bool:
        """Whether it is worth a number."""
        return any(value >= LEAST_PERCENT for value in self.cpu_percent.values())


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
    shown = [box for box in boxes if box.name not in _OPTIONAL or is_seen(measured, box)]
    down = [box for box in shown if box.lane == "down"]
    link = [box for box in shown if box.lane == "link"]
    up = [box for box in reversed(shown) if box.lane == "up"]  # drawn from the top
    rows = max(len(down), len(up))
    bottom = _TOP + rows * STEP
    height = bottom + STEP + 40
    right = COLUMN + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}"'
        f' width="{WIDTH:g}" height="{height:g}">',
        f'<rect width="{WIDTH:g}" height="{height:g}" fill="#ffffff"/>',
        draw_text(0, 14, title, weight="bold", size=13),
    ]
    parts += [
        draw_text(0, 44, "sending", weight="bold"),
        draw_text(right, 44, "receiving", weight="bold"),
        *_totals(totals, bottom + STEP + 18),
    ]
    for x, column, downwards in ((0.0, down, True), (right, up, False)):
        # both lanes end where the link is
        first = bottom - len(column) * STEP
        for index, box in enumerate(column):
            y = first + index * STEP
            parts += _draw(x, y, COLUMN, box, measured.get(box.name), transport)
            parts.append(draw_arrow(x + 20, y + BOX, y + STEP, downwards))
    for box in link:
        parts += _draw(0, bottom, WIDTH, box, measured.get(box.name), transport)
    parts.append("</svg>")
    return outline_text("\n".join(parts))


def is_seen(measured: Mapping[str, Measured], box: Box) -> bool:
    """Tell whether a box has samples worth a number."""
    return box.name in measured and measured[box.name].seen


def _draw(
    x: float, y: float, width: float, box: Box, found: Measured | None, transport: Transport
) -> list[str]:
    title = box.titles[transport] + (" (a copy)" if box.copies else "")
    labels = side_labels(found.cpu_percent) if found is not None else []
    return draw_box((x, y, width), title, found, labels, is_copy=box.copies)


def side_labels(cpu_percent: Mapping[str, float]) -> list[Label]:
    """Return what the sides take of a box, those worth a number."""
    return [
        (f"{side} {cpu_percent[side]:.1f} %", colour)
        for side, colour in SIDE_COLOURS.items()
        if cpu_percent.get(side, 0.0) >= LEAST_PERCENT
    ]


def draw_box(
    place: tuple[float, float, float],
    title: str,
    found: Measured | None,
    labels: Sequence[Label],
    *,
    is_copy: bool,
) -> list[str]:
    """Return a box: dashed without samples, marked where it is a copy.

    Parameters
    ----------
    place
        Left edge, upper edge and width.
    title
        Stands in it.
    found
        What was measured.
    labels
        At its right, from the top down.
    is_copy
        Whether the bytes of messages are copied there.
    """
    x, y, width = place
    seen = found is not None and found.seen
    fill = "#ffffff" if not seen else _COPY if is_copy else _PLAIN
    edge = "#d55e00" if is_copy and seen else "#8a8f95"
    dash = "" if seen else ' stroke-dasharray="4 3"'
    parts = [
        f'<rect x="{x:g}" y="{y:g}" width="{width - 0.5:g}" height="{BOX:g}" rx="3"'
        f' fill="{fill}" stroke="{edge}" stroke-width="{2 if is_copy and seen else 1}"{dash}/>',
        draw_text(x + 8, y + 17, title, weight="bold"),
    ]
    if not seen or found is None:
        parts.append(draw_text(x + 8, y + 32, "no samples", colour=QUIET, size=10))
        return parts
    parts.append(draw_text(x + 8, y + 32, found.function, colour=QUIET, size=10, face="monospace"))
    first, step = (17, 15) if len(labels) < 3 else (12, 12)
    for row, (words, colour) in enumerate(labels):
        parts.append(
            draw_text(x + width - 8, y + first + step * row, words, colour, 11, anchor="end")
        )
    return parts


def _totals(totals: Mapping[str, float], y: float) -> list[str]:
    used = [f"{side} {totals[side]:.0f} %" for side in SIDE_COLOURS if side in totals]
    words = f"Percent of one CPU, in the task of the side named; in all {', '.join(used)}."
    return [draw_text(0, y, words, colour=QUIET, size=11)]


def draw_arrow(x: float, top: float, bottom: float, downwards: bool) -> str:
    """Return an arrow between two heights."""
    start, tip = (top, bottom) if downwards else (bottom, top)
    back = tip - 5 if downwards else tip + 5
    return (
        f'<path d="M{x:g} {start:g}V{back:g}M{x - 4:g} {back:g}L{x:g} {tip:g}L{x + 4:g} {back:g}Z"'
        f' stroke="{QUIET}" stroke-width="1.2" fill="{QUIET}"/>'
    )


def draw_text(
    x: float,
    y: float,
    text: str,
    colour: str = INK,
    size: float = 12,
    *,
    weight: str = "normal",
    face: str = "sans-serif",
    anchor: str = "start",
) -> str:
    """Return a line of text, by its baseline."""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" font-family="{face}"'
        f' font-weight="{weight}" fill="{colour}" text-anchor="{anchor}">{escape(text)}</text>'
    )
