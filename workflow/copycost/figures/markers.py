"""One colour, marker and line per implementation, the same in every figure, and their families.

A reader who knows a line in one figure knows it in all. Colours are told apart with every kind of
colour vision among those of one family, which is what stands in one panel; markers and lines tell
them apart without colour.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

from copycost.config.strategy_capabilities import split_implementation

Line = Literal["-"] | tuple[float, tuple[float, ...]]
"""A line style: solid, or an offset with the lengths of dashes and gaps."""

Marker = str | tuple[int, Literal[0, 1], int]
"""One of matplotlib's letters, or so many corners, 1 for a star or 0, and degrees to turn it by."""

_DASHES: Line = (0, (5, 1.5))
_DASH_DOT: Line = (0, (5, 1.5, 1, 1.5))
_DOTS: Line = (0, (1, 1.2))
_SHORT: Line = (0, (3, 1.2))
_LONG_DOTS: Line = (0, (7, 1.5, 1, 1.5, 1, 1.5))
_SPARSE: Line = (0, (2, 2.5))


@dataclass(frozen=True, slots=True)
class WayStyle:
    """Colour, marker and line of one implementation; each alone would do without the others.

    The marker of a strategy that sends many messages per call is a `hollow` outline.
    """

    colour: str
    marker: Marker
    line: Line
    hollow: bool = False

    @property
    def size(self) -> float:
        """Return the marker's size in points; open shapes need more to look as large."""
        if isinstance(self.marker, tuple):
            return 8.0
        return {"*": 8.0, "P": 6.2, "X": 6.2, "D": 4.6, "d": 6.0}.get(self.marker, 5.0)

    def as_line(self) -> dict[str, Any]:
        """Return the keyword arguments that make matplotlib draw such a line."""
        return {
            "color": self.colour,
            "marker": self.marker,
            "markersize": self.size,
            "linestyle": self.line,
            "markerfacecolor": "white" if self.hollow else self.colour,
            "markeredgecolor": self.colour if self.hollow else "white",
            "markeredgewidth": 1.1 if self.hollow else 0.5,
        }

    def as_hole(self) -> dict[str, Any]:
        """Return the keyword arguments of the hollow mark that stands for a missing cell."""
        return {
            "linestyle": "none",
            "markersize": self.size + 0.5,
            "markerfacecolor": "white",
            "markeredgecolor": self.colour,
            "markeredgewidth": 0.9,
        }


_BLUE, _ORANGE, _GREEN, _RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
_SKY, _PINK, _BLACK = "#56B4E9", "#CC79A7", "#000000"
_INDIGO, _WINE, _TEAL = "#332288", "#882255", "#44AA99"

_KNOWN = {
    "two_copy": WayStyle(_BLUE, "o", "-"),
    "one_copy": WayStyle(_ORANGE, "s", _DASHES),
    "zero_copy": WayStyle(_GREEN, "^", _DASH_DOT),
    "write_v": WayStyle(_SKY, "D", _DOTS),
    "uring_send": WayStyle(_RED, "v", _SHORT),
    "uring_sendmsg": WayStyle(_INDIGO, "P", _LONG_DOTS),
    "uring_zero_copy": WayStyle(_BLACK, "X", "-"),
    "uring_registered": WayStyle(_SKY, "h", _LONG_DOTS),
    "sendfile": WayStyle(_PINK, "p", _DASHES),
    "splice": WayStyle(_ORANGE, "<", _DOTS),
    "splice_gift": WayStyle(_WINE, ">", _SPARSE),
    "sendmmsg": WayStyle(_TEAL, "*", _SHORT),
    "udp_gso": WayStyle(_WINE, "d", _DASH_DOT),
}
"""In the order of every legend and table."""

# Of the strategies that somebody adds: colours and markers that no known one has. Seven colours,
# nine markers and five lines share no divisor: a combination comes back after 315 strategies.
_FURTHER_COLOURS = (
    "#7F26D9", "#715214", "#913071", "#99A7C2", "#264033", "#CFAE6E", "#2C0B3D",
)  # fmt: skip
_FURTHER_MARKERS: tuple[Marker, ...] = (
    (4, 1, 0), (3, 1, 0), (6, 1, 0), (4, 1, 45), (5, 1, 180), (3, 1, 180), (8, 1, 0), (5, 0, 180),
    "8",
)  # fmt: skip
_LINES: tuple[Line, ...] = (_DOTS, "-", _SHORT, _LONG_DOTS, _SPARSE)


def in_order(implementations: Iterable[str]) -> tuple[str, ...]:
    """Return the implementations in the order of every legend.

    The known strategies, then the others by name; each before the same with many messages per
    call, fewest first.
    """
    places = {name: place for place, name in enumerate(_KNOWN)}

    def place(name: str) -> tuple[int, str, int]:
        strategy, batch = split_implementation(name)
        return places.get(strategy, len(places)), strategy, batch

    return tuple(sorted(set(implementations), key=place))


def way_styles(implementations: Iterable[str]) -> dict[str, WayStyle]:
    """Return one look per implementation; those of the known strategies never change.

    With many messages per call a strategy keeps its colour and marker: the marker becomes hollow,
    and the line tells the numbers of messages apart.
    """
    names = in_order(implementations)
    strategies = dict.fromkeys(split_implementation(name)[0] for name in names)
    further = [name for name in strategies if name not in _KNOWN]
    of_strategy = _KNOWN | {
        name: WayStyle(
            _FURTHER_COLOURS[place % len(_FURTHER_COLOURS)],
            _FURTHER_MARKERS[place % len(_FURTHER_MARKERS)],
            _LINES[place % len(_LINES)],
        )
        for place, name in enumerate(further)
    }
    n_batches: Counter[str] = Counter()
    found = {}
    for name in names:
        strategy, batch = split_implementation(name)
        found[name] = of_strategy[strategy]
        if batch > 1:
            line = _LINES[n_batches[strategy] % len(_LINES)]
            found[name] = replace(found[name], hollow=True, line=line)
            n_batches[strategy] += 1
    return found


CROWD = 6
"""The most lines that one panel can show so that each can be followed."""

_COPYING = ("two_copy", "one_copy", "write_v", "uring_send", "uring_sendmsg")
_SPARING = (
    "zero_copy", "uring_zero_copy", "uring_registered", "sendfile", "splice", "splice_gift",
)  # fmt: skip
_MANY = {"sendmmsg", "udp_gso"}
_NAMED = {*_COPYING, *_SPARING, *_MANY}


@dataclass(frozen=True, slots=True)
class Family:
    """Implementations that share a panel where all together would crowd it.

    The name is what they have in common, and empty where there is only one family; members are in
    the order of every legend.
    """

    name: str
    members: tuple[str, ...]


def families(implementations: Iterable[str]) -> tuple[Family, ...]:
    """Return groups of at most `CROWD` implementations; one, without a name, where all fit.

    The groups follow from what a strategy asks the kernel for, so that those whose difference is
    of interest share a panel; one with many messages per call stands beside its own strategy.
    """
    names = in_order(implementations)
    if len(names) <= CROWD:
        return (Family("", names),)
    batched = {name for name in names if split_implementation(name)[1] > 1}
    origins = {split_implementation(name)[0] for name in batched}
    groups = {
        "copying sends": [name for name in names if name in _COPYING],
        "pages by reference": [name for name in names if name in _SPARING],
        "many messages per call": [name for name in names if name in (batched | origins | _MANY)],
        "further": [name for name in names if name not in (_NAMED | batched)],
    }
    return tuple(
        Family(title if part == 0 else f"{title} ({part + 1})", members)
        for title, group in groups.items()
        for part, members in enumerate(_parts(group))
    )


def _parts(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Cut a group into about equal parts of at most `CROWD`; batches stay beside their strategy."""
    enough = math.ceil(len(names) / max(1, math.ceil(len(names) / CROWD)))
    part: list[str] = []
    for _, alike in groupby(names, key=lambda name: split_implementation(name)[0]):
        batches = list(alike)
        if part and (len(part) >= enough or len(part) + len(batches) > CROWD):
            yield tuple(part)
            part = []
        part += batches
        while len(part) > CROWD:
            yield tuple(part[:CROWD])
            part = part[CROWD:]
    if part:
        yield tuple(part)
