"""Flame graphs, written as SVG: static as a picture, searchable and zoomable when opened alone.

Source: B. Gregg, The Flame Graph, Communications of the ACM 59 (2016), and Differential Flame
Graphs (2014), for the form: width is time, what lies on a frame was called by it, order along the
row is by name.
"""

from collections.abc import Callable, Mapping, Sequence
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
    frames = lay_out(top, _LEAST)

    def category(node: Node) -> str | None:
        caller: Node | None = node
        while caller is not None and caller is not top:
            # a lock or the like works for its caller
            if found := categories.of_frame(caller.name):
                return found
            caller = caller.caller
        return None

    def colour(node: Node) -> str:
        name = category(node)
        return _colour(_SAME) if name is None else CATEGORY_COLOURS.get(name, "#f7f7f7")

    def tip(node: Node) -> str:
        return f"{plain_name(node.name)}: {100 * node.after / top.after:.2f} %"

    shown = {category(frame.node) for frame in frames[1:]}
    key = [(hue, name.replace("_", " ")) for name, hue in CATEGORY_COLOURS.items() if name in shown]
    key += [(_colour(_SAME), "of no category")] if None in shown else []
    return _svg(title, frames, key, colour, tip)


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
    frames = lay_out(top, _LEAST)
    scale = 0.1 * max(top.before, top.after)

    def colour(node: Node) -> str:
        return _change_colour(max(-1.0, min(1.0, (node.after - node.before) / scale)))

    def tip(node: Node) -> str:
        return (
            f"{plain_name(node.name)}: {node.before:.3g} to {node.after:.3g} {unit}"
            f" ({node.after - node.before:+.3g})"
        )

    key = [
        (_change_colour(1.0), "grew by a tenth of all or more"),
        (_change_colour(0.0), "the same"),
        (_change_colour(-1.0), "shrank by a tenth of all or more"),
    ]
    return _svg(title, frames, key, colour, tip)


def _change_colour(change: float) -> str:
    """Return the colour of a change: -1 shrank by a tenth of the whole or more, 1 grew."""
    end = _GREW if change > 0 else _SHRANK
    red, green, blue = (
        round(low + abs(change) * 0.75 * (high - low)) for low, high in zip(_SAME, end, strict=True)
    )
    return _colour((red, green, blue))


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


def _colour(rgb: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*rgb)


def _svg(
    title: str,
    frames: Sequence[Frame],
    key: Sequence[tuple[str, str]],
    colour: Callable[[Node], str],
    tip: Callable[[Node], str],
) -> str:
    """Return the graph; `key` has the colours and their words."""
    n_rows = 1 + max(frame.depth for frame in frames)
    key_parts, head = _key(key)
    height = head + n_rows * _ROW + _FOOT
    scale = WIDTH / frames[0].width
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}"'
        f' width="{WIDTH:g}" height="{height:g}" data-width="{WIDTH:g}" data-letter="{_LETTER:g}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH:g}" height="{height:g}" fill="#ffffff"/>',
        _text(1.5, 12, title, size=_FONT + 1),
        *key_parts,
        f'<text class="found" x="{WIDTH - 90:g}" y="25" font-size="{_FONT:g}" font-family="{_FACE}"'
        ' fill="#222222" text-anchor="end"></text>',
        f'<text class="search" x="{WIDTH - 4:g}" y="25" font-size="{_FONT:g}"'
        f' font-family="{_FACE}" fill="#0072B2" text-anchor="end" role="button" tabindex="0"'
        ' style="display:none;cursor:pointer">search (/)</text>',
    ]
    parts += [_frame(frame, scale, height, colour, tip) for frame in frames]
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
