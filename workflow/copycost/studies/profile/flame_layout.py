"""Where the frames of a flame graph lie: a tree of call paths, laid out from left to right."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from copycost.studies.profile.functions import Stack


@dataclass(slots=True)
class Node:
    """A call path.

    Attributes
    ----------
    name : str
        Its innermost frame.
    before, after : float
        Weight of the samples that go through it, in the first and in the second of two profiles;
        a plain flame graph has only `after`.
    caller : Node or None
        The call path without that frame.
    children : dict
        By name.
    """

    name: str
    caller: "Node | None" = None
    before: float = 0.0
    after: float = 0.0
    children: dict[str, "Node"] = field(default_factory=dict)

    @property
    def widest(self) -> float:
        """The larger of both weights, or what the children need if that is more."""
        return max(self.before, self.after, sum(child.widest for child in self.children.values()))


@dataclass(frozen=True, slots=True)
class Frame:
    """A rectangle of the graph.

    Attributes
    ----------
    node : Node
        What it shows.
    depth : int
        Row, 0 for the outermost frame.
    left, width : float
        In units of weight.
    """

    node: Node
    depth: int
    left: float
    width: float


def build_tree(
    root: str, after: Mapping[Stack, float], before: Mapping[Stack, float] | None = None
) -> Node:
    """Return the tree of one profile, or of two."""
    top = Node(root)
    for stacks, is_after in ((after, True), (before or {}, False)):
        for stack, weight in stacks.items():
            node = top
            _add(node, weight, is_after)
            for name in stack:
                node = node.children.setdefault(name, Node(name, node))
                _add(node, weight, is_after)
    return top


def _add(node: Node, weight: float, is_after: bool) -> None:
    if is_after:
        node.after += weight
    else:
        node.before += weight


def lay_out(top: Node, least: float) -> list[Frame]:
    """Return the rectangles, children by name within their parents; narrow ones are left out.

    Parameters
    ----------
    top : Node
        The tree.
    least : float
        Narrowest width that is drawn, as a share of the whole.
    """
    return list(_frames(top, 0, 0.0, least * top.widest))


def _frames(node: Node, depth: int, left: float, least: float) -> Iterator[Frame]:
    width = node.widest
    if width < least or width == 0.0:
        return
    yield Frame(node, depth, left, width)
    for name in sorted(node.children):
        child = node.children[name]
        yield from _frames(child, depth + 1, left, least)
        left += child.widest
