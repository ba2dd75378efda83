"""Flame graphs, written as SVG: static as a picture, searchable and zoomable when opened alone.

Source: B. Gregg, The Flame Graph, Communications of the ACM 59 (2016), and Differential Flame
Graphs (2014), for the form: width is time, what lies on a frame was called by it, order along the
row is by name.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from copycost.studies.profile.flame_layout import Frame, Node, build_tree, lay_out
from copycost.studies.profile.functions import Categories, Stack, in_kernel, plain_name

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
    "softirq": "#c5e0b4",
    "allocation": "#d4c2e0",
    "scheduling": "#f3c6d9",
    "tracing": "#bdbdbd",
    "uncategorised": "#f7f7f7",
}
SYSTEM_CALL, APPLICATION = "kernel", "application"
"""Stand in aligned stacks for the frames outside of what is compared."""

_GREW, _SHRANK, _SAME = (213, 94, 0), (0, 114, 178), (240, 240, 240)


def flame_graph(
    title: str, root: str, stacks: Mapping[Stack, float], categories: Categories
) -> str:
    """Return a flame graph of one side, coloured by what each function does.

    Parameters
    ----------
    title : str
        Stands above it.
    root : str
        Name of the lowest frame: the side.
    stacks : mapping
        Weight by stack, in any unit.
    categories : Categories
        What functions do.
    """
    top = build_tree(root, stacks)

    def colour(node: Node) -> str:
        caller: Node | None = node
        while caller is not None and caller is not top:
            # a lock or the like works for its caller
            category = categories.of_frame(caller.name)
            if category is not None:
                return CATEGORY_COLOURS.get(category, "#f7f7f7")
            caller = caller.caller
        return _grey()

    def tip(node: Node) -> str:
        return f"{plain_name(node.name)}: {100 * node.after / top.after:.2f} %"

    return _svg(title, top, colour, tip)


def difference_graph(
    title: str,
    root: str,
    before: Mapping[Stack, float],
    after: Mapping[Stack, float],
    unit: str,
) -> str:
    """Return a differential flame graph: orange grew from `before` to `after`, blue shrank.

    A frame is as wide as the larger of both, so that what is gone is seen too. The colour is full
    where a tenth of the whole came or went.

    Parameters
    ----------
    title, root : str
        As for `flame_graph`.
    before, after : mapping
        Weight by stack of both profiles, in the same unit.
    unit : str
        The unit, for the texts.
    """
    top = build_tree(root, after, before)
    scale = 0.1 * max(top.before, top.after)

    def colour(node: Node) -> str:
        change = max(-1.0, min(1.0, (node.after - node.before) / scale))
        end = _GREW if change > 0 else _SHRANK
        mixed = (
            round(low + abs(change) * 0.75 * (high - low))
            for low, high in zip(_SAME, end, strict=True)
        )
        return "#" + "".join(f"{part:02x}" for part in mixed)

    def tip(node: Node) -> str:
        return (
            f"{plain_name(node.name)}: {node.before:.3g} to {node.after:.3g} {unit}"
            f" ({node.after - node.before:+.3g})"
        )

    return _svg(title, top, colour, tip)


def aligned(stacks: Mapping[Stack, float], categories: Categories) -> dict[Stack, float]:
    """Return stacks without the ways into the kernel, which differ between ways to send.

    What an application does to call `send` and what it does to call `sendmsg` would set all that
    the kernel does in both apart. In place of those frames stands one.
    """
    found: dict[Stack, float] = {}
    for stack, weight in stacks.items():
        inner = next(
            (
                place
                for place, frame in enumerate(stack)
                if categories.of_frame(frame) not in ("user", "system_call")
            ),
            len(stack),
        )
        # where the kernel is entered without a system call (an interrupt), inner is its first frame
        entered = any(map(in_kernel, stack[: inner + 1]))
        key = (SYSTEM_CALL if entered else APPLICATION, *stack[inner:])
        found[key] = found.get(key, 0.0) + weight
    return found


def _grey() -> str:
    return "#{:02x}{:02x}{:02x}".format(*_SAME)


def _svg(title: str, top: Node, colour: Callable[[Node], str], tip: Callable[[Node], str]) -> str:
    frames = lay_out(top, _LEAST)
    n_rows = 1 + max(frame.depth for frame in frames)
    height = _HEAD + n_rows * _ROW + _FOOT
    scale = WIDTH / top.widest
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}"'
        f' width="{WIDTH:g}" height="{height:g}" data-width="{WIDTH:g}" data-letter="{_LETTER:g}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH:g}" height="{height:g}" fill="#ffffff"/>',
        _text(1.5, 12, title, size=_FONT + 1),
        f'<text id="found" x="{WIDTH - 90:g}" y="25" font-size="{_FONT:g}" font-family="{_FACE}"'
        ' fill="#222222" text-anchor="end"></text>',
        f'<text id="search" x="{WIDTH - 4:g}" y="25" font-size="{_FONT:g}" font-family="{_FACE}"'
        ' fill="#0072B2" text-anchor="end" style="display:none;cursor:pointer">search (/)</text>',
    ]
    parts += [_frame(frame, scale, height, colour, tip) for frame in frames]
    script = _SCRIPT.read_text(encoding="utf-8")
    parts.append(f"<script><![CDATA[\n{script}]]></script>\n</svg>")
    return "\n".join(parts) + "\n"


def _frame(
    frame: Frame,
    scale: float,
    height: float,
    colour: Callable[[Node], str],
    tip: Callable[[Node], str],
) -> str:
    x, width = frame.left * scale, frame.width * scale
    y = height - _FOOT - (frame.depth + 1) * _ROW
    name = plain_name(frame.node.name)
    return (
        f'<g class="f" data-name={quoteattr(name)}><title>{escape(tip(frame.node))}</title>'
        f'<rect x="{x:.2f}" y="{y:g}" width="{max(width - 0.3, 0.2):.2f}" height="{_ROW - 1:g}"'
        f' rx="1" fill="{colour(frame.node)}"/>'
        f"{_text(x + 1.5, y + _ROW - 4, fitting(name, width))}</g>"
    )


def _text(x: float, y: float, text: str, size: float = _FONT) -> str:
    return (
        f'<text x="{x:.2f}" y="{y:g}" font-size="{size:g}" font-family="{_FACE}"'
        f' fill="#222222">{escape(text)}</text>'
    )


def fitting(name: str, width: float) -> str:
    """Return as much of a name as fits into a frame of this width, '' if that says nothing."""
    room = int((width - 3) / _LETTER)
    if room < 3:
        return ""
    return name if len(name) <= room else name[: room - 1] + "…"
