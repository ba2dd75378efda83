"""The way of a message through guests and their host as a diagram, copies numbered."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from copycost.figures.outline import outline_text
from copycost.hosts.parties import (
    hypervisor_of,
    is_hypervisor,
    is_rest,
    rest_of_guest,
    side_near,
)
from copycost.hosts.side import SIDES, SideName
from copycost.studies.profile.diagram import (
    BOX,
    COLUMN,
    GAP,
    LEAST_PERCENT,
    QUIET,
    SIDE_COLOURS,
    STEP,
    WIDTH,
    Label,
    Measured,
    Transport,
    draw_arrow,
    draw_box,
    draw_text,
    is_seen,
)
from copycost.studies.profile.paths import Box
from copycost.wording.parties import party as party_words

_TOP = 30.0
_HEAD = 24.0
_PAD = 8.0
_GUEST, _HOST, _EDGE = "#f7f7f2", "#f1f1f6", "#c8ccd2"
# of a side: the lanes on a message's way, from the top down, and what comes or goes back
_IN_GUEST: dict[SideName, tuple[str, ...]] = {"sender": ("down",), "receiver": ("link", "up")}
_ON_HOST: dict[SideName, str] = {"sender": "host_down", "receiver": "host_up"}
_NOTE = "Percent of one CPU; “guest” is what a guest does besides sender and receiver. In all:"
_BACK: dict[SideName, str] = {
    "sender": "packets that come back",
    "receiver": "packets that go back",
}

Numbers = Mapping[tuple[str, str | None], int]
"""By box and the hypervisor whose it is (None inside of guests), the number of a counted copy."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A box of one column as it is drawn."""

    title: str
    found: Measured
    is_copy: bool


class GuestPath:
    """A diagram that is being made.

    Parameters
    ----------
    boxes : sequence of Box
        In the order of the way.
    measured : mapping
        By box.
    parties : sequence of str
        Whose stacks were sampled.
    transport : str
        Which of the boxes' titles to take.
    numbers : mapping
        Of the copies.
    """

    def __init__(
        self,
        boxes: Sequence[Box],
        measured: Mapping[str, Measured],
        parties: Sequence[str],
        transport: Transport,
        numbers: Numbers,
    ) -> None:
        self._boxes = boxes
        self._measured = measured
        self._inside = [party for party in parties if not is_hypervisor(party)]
        self._outside = [party for party in parties if is_hypervisor(party)]
        self._transport = transport
        self._numbers = numbers

    def svg(self, title: str, totals: Mapping[str, float]) -> str:
        """Return the diagram as SVG, its letters drawn as outlines.

        Parameters
        ----------
        title : str
            Stands above it.
        totals : mapping
            By party, its CPU use in percent of one CPU.
        """
        parts, y = [], _TOP
        for band in (self._guests, self._host):
            drawn, y = band(y)
            parts += drawn
        height = y + 48
        foot = [_NOTE, *(_totals(totals, some) for some in (self._inside, self._outside))]
        return outline_text(
            "\n".join(
                [
                    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}"'
                    f' width="{WIDTH:g}" height="{height:g}">',
                    f'<rect width="{WIDTH:g}" height="{height:g}" fill="#ffffff"/>',
                    draw_text(0, 14, title, weight="bold", size=13),
                    *parts,
                    *(
                        draw_text(0, y + 14 * line, words, colour=QUIET, size=11)
                        for line, words in enumerate(foot, 1)
                    ),
                    "</svg>",
                ]
            )
        )

    def _guests(self, y: float) -> tuple[list[str], float]:
        """Return the band of the guests, and where it ends."""
        shared = "guest" in self._inside
        columns = {side: list(self._in_guest(side, shared=shared)) for side in SIDES}
        beside = {side: [] if shared else self._back_in_guest(side) for side in SIDES}
        names: dict[SideName, str] = {side: self._where(side) for side in SIDES}
        if shared:
            names = {"sender": "in the guest"}
        return self._band(y, _GUEST, names, columns, beside, joined=shared, wide=shared)

    def _where(self, side: SideName) -> str:
        inside = rest_of_guest([side]) in self._inside
        return f"the {side}'s guest" if inside else f"the {side}, on the host"

    def _host(self, y: float) -> tuple[list[str], float]:
        """Return the band of the host, and where it ends."""
        columns: dict[SideName, list[_Entry]] = {side: [] for side in SIDES}
        beside: dict[SideName, list[_Entry]] = {side: [] for side in SIDES}
        for party in self._outside:
            side = side_near(party)
            around = [
                self._entry(box, [party])
                for box in self._lane("host")
                if not box.copies and self._seen(box, [party])
            ]
            if not party.startswith(SIDES):
                # nothing of a message passes here; both columns share what there is
                beside = {"sender": around[::2], "receiver": around[1::2]}
                continue
            way = [box for box in self._lane("host") if box.copies and self._seen(box, [party])]
            lane = self._lane(_ON_HOST[side])
            boxes = [*way, *lane] if side == "sender" else [*way, *reversed(lane)]
            columns[side] = [self._entry(box, [party]) for box in boxes if self._seen(box, [party])]
            back = self._together(
                [box for other in SIDES if other != side for box in self._lane(_ON_HOST[other])],
                [party],
                _BACK[side],
            )
            beside[side] = [*around, *back]
        names: dict[SideName, str] = {
            side: f"on the host: the {side}'s QEMU"
            for side in SIDES
            if hypervisor_of([side]) in self._outside
        }
        joined, wide = all(columns.values()), not names
        if wide:
            names = {"sender": "on the host: QEMU"}
        return self._band(y, _HOST, names, columns, beside, joined=joined, wide=wide)

    def _lane(self, lane: str) -> list[Box]:
        return [box for box in self._boxes if box.lane == lane]

    def _in_guest(self, side: SideName, *, shared: bool) -> Iterator[_Entry]:
        lanes = ("down",) if side == "sender" else ("up",) if shared else _IN_GUEST[side]
        boxes = [box for lane in lanes for box in self._lane(lane)]
        parties = self._inside if shared else self._near(side)
        for box in boxes if side == "sender" else reversed(boxes):
            if self._seen(box, parties):
                yield self._entry(box, parties)
        if shared and side == "sender":
            for box in self._lane("link"):
                if self._seen(box, parties):
                    yield self._entry(box, parties)

    def _back_in_guest(self, side: SideName) -> list[_Entry]:
        lanes = [lane for other in SIDES for lane in _IN_GUEST[other] if other != side]
        boxes = [box for lane in lanes for box in self._lane(lane)]
        return self._together(boxes, self._near(side), _BACK[side])

    def _near(self, side: SideName) -> list[str]:
        return [party for party in self._inside if side_near(party) == side]

    def _of(self, box: Box, parties: Sequence[str]) -> Measured:
        """Return what was measured of a box in some parties alone."""
        found = self._measured.get(box.name, Measured({}, ""))
        used = {party: found.cpu_percent.get(party, 0.0) for party in parties}
        busiest = max(parties, key=lambda party: used[party])
        return Measured(used, found.functions.get(busiest, ""))

    def _seen(self, box: Box, parties: Sequence[str]) -> bool:
        return is_seen({box.name: self._of(box, parties)}, box)

    def _entry(self, box: Box, parties: Sequence[str]) -> _Entry:
        title = box.titles[self._transport]
        hypervisor = parties[0] if is_hypervisor(parties[0]) else None
        number = self._numbers.get((box.name, hypervisor))
        if number is not None:
            title = f"{title} (copy {number})"
        return _Entry(title, self._of(box, parties), number is not None)

    def _together(self, boxes: Sequence[Box], parties: Sequence[str], title: str) -> list[_Entry]:
        """Return one box for all that comes or goes back, none without samples."""
        found = [self._of(box, parties) for box in boxes]
        used = {party: sum(one.cpu_percent[party] for one in found) for party in parties}
        together = Measured(used, "")
        return [_Entry(title, together, is_copy=False)] if together.seen else []

    def _band(
        self,
        y: float,
        fill: str,
        names: Mapping[SideName, str],
        columns: Mapping[SideName, Sequence[_Entry]],
        beside: Mapping[SideName, Sequence[_Entry]],
        *,
        joined: bool,
        wide: bool,
    ) -> tuple[list[str], float]:
        """Return a band with two columns whose ways end at the same height.

        Parameters
        ----------
        joined
            Whether a message goes from the end of one column to that of the other.
        wide
            Whether both columns are one place.
        """
        rows = max(len(column) for column in columns.values())
        extra = max(len(column) for column in beside.values())
        top = y + _HEAD
        end = top + (rows + extra) * STEP + _PAD
        parts = []
        lefts = {"sender": 0.0, "receiver": COLUMN + GAP}
        edges = [(lefts[side], COLUMN) for side in names]
        for left, width in [(0.0, WIDTH)] if joined or wide else edges:
            parts.append(
                f'<rect x="{left:g}" y="{y:g}" width="{width:g}" height="{end - y - 4:g}"'
                f' rx="5" fill="{fill}" stroke="{_EDGE}"/>'
            )
        for side in SIDES:
            left, name = lefts[side], names.get(side, "")
            downwards = side == "sender"
            parts.append(draw_text(left + _PAD, y + 16, name, colour=QUIET, size=11))
            first = top + (rows - len(columns[side])) * STEP
            for row, entry in enumerate(columns[side]):
                at = first + row * STEP
                parts += _draw(left, at, entry, side)
                # the way into this band comes from the one above it
                if row or fill == _HOST:
                    above = at - (STEP - BOX) if row else y - 4 - _PAD
                    parts.append(draw_arrow(left + 24, above, at, downwards))
            for row, entry in enumerate(beside[side]):
                parts += _draw(left, top + (rows + row) * STEP, entry, side)
        if joined and rows:
            middle = top + (rows - 1) * STEP + BOX / 2
            start, tip = COLUMN - _PAD, COLUMN + GAP + _PAD
            parts.append(
                f'<path d="M{start:g} {middle:g}H{tip - 5:g}M{tip - 5:g} {middle - 4:g}'
                f'L{tip:g} {middle:g}L{tip - 5:g} {middle + 4:g}Z" stroke="{QUIET}"'
                f' stroke-width="1.2" fill="{QUIET}"/>'
            )
        return parts, end


def _totals(totals: Mapping[str, float], parties: Sequence[str]) -> str:
    used = [f"{party_words(one)} {totals[one]:.0f} %" for one in parties if one in totals]
    return f"{', '.join(used)}."


def _draw(left: float, y: float, entry: _Entry, side: SideName) -> list[str]:
    place = (left + _PAD, y, COLUMN - 2 * _PAD)
    return draw_box(place, entry.title, entry.found, _labels(entry, side), is_copy=entry.is_copy)


def _labels(entry: _Entry, side: SideName) -> list[Label]:
    return [
        (f"{_short(party)} {value:.1f} %".lstrip(), SIDE_COLOURS.get(party, SIDE_COLOURS[side]))
        for party, value in entry.found.cpu_percent.items()
        if value >= LEAST_PERCENT
    ]


def _short(party: str) -> str:
    """Return what a party is called in its column, which says whose it is."""
    return "" if is_hypervisor(party) else "guest" if is_rest(party) else party
