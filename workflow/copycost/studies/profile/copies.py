"""How often a byte is copied between two applications in guests, counted in the measured stacks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from copycost.hosts.parties import hypervisor_of, is_hypervisor
from copycost.hosts.side import SideName
from copycost.perf.stacks import UNKNOWN
from copycost.stats.estimates import estimate
from copycost.stats.settings import StatisticsSettings
from copycost.studies.profile.names import parties_on
from copycost.studies.profile.paths import Box, DataPath
from copycost.studies.profile.shares import Share
from copycost.studies.profile.tables import Repetition

LEAST_NS_PER_KIB = 5.0
"""Less than this cannot be a copy of every byte: no core copies 200 GB/s. Headers alone, or a stray
sample, take less."""

_OWN_COPY = "application_copy"
TAP_COPY = "tap_copy_in"
"""The copy that a host makes of what a guest sends, zero-copy or not."""

# in the order of the way; on the host as between guests
_LANES = ("down", "host_down", "host_up", "up")


@dataclass(frozen=True, slots=True)
class CopyPlace:
    """A place on the way of a byte where it may be copied.

    Attributes
    ----------
    box
        The part of the way.
    parties
        In whose stacks it is looked for.
    """

    box: Box
    parties: tuple[str, ...]

    @property
    def party(self) -> str | None:
        """The hypervisor whose stacks these are; None for the sides and their kernels."""
        first = self.parties[0]
        return first if is_hypervisor(first) else None

    def ns_per_kib(self, one: Repetition) -> float:
        """Return the CPU time of copying there [ns per KiB received]."""
        return sum(
            one.shares[party].boxes.get(self.box.name, Share()).own * one.ns_per_kib(party)
            for party in self.parties
            if party in one.shares
        )

    def share(self, one: Repetition) -> float:
        """Return its share of the samples of the parties that have it [0 to 1]."""
        having = [party for party in self.parties if party in one.shares]
        used = {party: one.ns_per_kib(party) for party in having}
        having = [party for party in having if self.box.name in one.shares[party].boxes]
        total = sum(used[party] for party in having)
        return self.ns_per_kib(one) / total if total else 0.0

    def function(self, cell: Sequence[Repetition]) -> str:
        """Return the function by which most samples came there, '' if there were none."""
        sums: dict[str, float] = {}
        for one in cell:
            for party in self.parties:
                if party not in one.shares:
                    continue
                for name, share in one.shares[party].box_functions.get(self.box.name, {}).items():
                    sums[name] = sums.get(name, 0.0) + share * one.cpus(party)
        return max(sorted(sums), key=lambda name: sums[name]) if sums else ""


def places_on(testbed: str, data_path: DataPath) -> list[CopyPlace]:
    """Return where bytes may be copied on the way through guests, in its order.

    Where both sides run in one guest, no byte passes the host.
    """
    parties = parties_on(testbed)
    inside = tuple(party for party in parties if not is_hypervisor(party))
    found = []
    for lane in _LANES:
        side: SideName = "sender" if "down" in lane else "receiver"
        own = hypervisor_of([side])
        copying = [box for box in data_path.boxes if box.copies]
        if lane.startswith("host") and own in parties:
            # a hypervisor copies by itself next to its guest: before the host's kernel, or after
            near = [box for box in copying if box.lane == "host"]
            taken = [box for box in copying if box.lane == lane]
            way = [*near, *taken] if side == "sender" else [*taken, *near]
            found += [CopyPlace(box, (own,)) for box in way]
        elif not lane.startswith("host"):
            found += [CopyPlace(box, inside) for box in copying if box.lane == lane]
    return found


def is_counted(place: CopyPlace, cell: Sequence[Repetition]) -> bool:
    """Tell whether every byte is copied there, in every repetition."""
    return min(place.ns_per_kib(one) for one in cell) >= LEAST_NS_PER_KIB


def number_copies(
    cell: Sequence[Repetition], data_path: DataPath
) -> dict[tuple[str, str | None], int]:
    """Return the numbers of the copies that a byte sees, from 1, by box and `CopyPlace.party`."""
    places = places_on(cell[0].key.testbed, data_path)
    counted = [place for place in places if is_counted(place, cell)]
    return {(place.box.name, place.party): number for number, place in enumerate(counted, 1)}


def copy_facts(
    cell: Sequence[Repetition], data_path: DataPath, settings: StatisticsSettings
) -> dict[str, Any]:
    """Return how many copies a byte sees from one application to the other.

    Keys
    ----
    counted
        The places where every byte is copied: those that take at least `LEAST_NS_PER_KIB` in every
        repetition. Each with `name` and `title` of its box, the hypervisor's `party` or None, its
        `function`, its CPU time with its interval, and its `share` of its parties' samples.
    traces
        The same of places with samples of copying that are too few for every byte.
    unnamed
        CPU time of functions of the sending application that have no name [ns per KiB], as those
        of a C library without symbols; None if that is too little for a copy, or one was counted.
    """
    counted: list[dict[str, Any]] = []
    traces: list[dict[str, Any]] = []
    for place in places_on(cell[0].key.testbed, data_path):
        costs = [place.ns_per_kib(one) for one in cell]
        if not any(costs):
            continue
        entry = {
            "name": place.box.name,
            "party": place.party,
            "function": place.function(cell),
            "ns_per_kib": estimate(costs, settings),
            "share": estimate([place.share(one) for one in cell], settings, is_share=True),
        }
        (counted if is_counted(place, cell) else traces).append(entry)
    unnamed = [_unnamed(one) for one in cell]
    own = any(one["name"] == _OWN_COPY for one in counted)
    return {
        "counted": counted,
        "traces": traces,
        "unnamed": None if own or min(unnamed) < LEAST_NS_PER_KIB else estimate(unnamed, settings),
    }


def _unnamed(one: Repetition) -> float:
    stacks = one.stacks.get("sender", {})
    unnamed = sum(weight for stack, weight in stacks.items() if stack[-1] == UNKNOWN)
    return unnamed / sum(stacks.values()) * one.ns_per_kib("sender") if stacks else 0.0


def tap_copy(copies: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the entry of the copy that the host makes of what is sent; None without one."""
    return next((one for one in copies["counted"] if one["name"] == TAP_COPY), None)
