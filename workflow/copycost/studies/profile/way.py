"""What each part of the way of a message costs, and which parts copy every byte."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from copycost.config.testbeds import transport_of
from copycost.hosts.side import SideName, hypervisor_of, is_hypervisor
from copycost.stats.estimates import estimate
from copycost.stats.settings import StatisticsSettings
from copycost.studies.profile.grid import parties_on
from copycost.studies.profile.paths import ELSEWHERE, Box, DataPath
from copycost.studies.profile.tables import Repetition, Share

LEAST_NS_PER_KIB = 5.0
"""Less than this cannot be a copy of every byte: no core copies 200 GB/s. Headers alone, or a stray
sample, take less."""

TAP_COPY = "tap_copy_in"
"""The copy that a host makes of what a guest sends, zero-copy or not."""

# in the order of the way; on the host as between guests
_LANES = ("down", "link", "host_down", "host_up", "up")
_REST = Box(
    ELSEWHERE, dict.fromkeys(("stream", "datagram"), "on no part of the way"), "link", copies=False
)


@dataclass(frozen=True, slots=True)
class Place:
    """A part of the way, and the parties in whose stacks it is looked for."""

    box: Box
    parties: tuple[str, ...]

    @property
    def party(self) -> str | None:
        """The hypervisor whose stacks these are; None for the sides and their kernels."""
        return next((party for party in self.parties[:1] if is_hypervisor(party)), None)

    def ns_per_kib(self, one: Repetition) -> float:
        """Return the own CPU time there [ns per KiB received]."""
        return sum(
            one.shares[party].boxes.get(self.box.name, Share()).own * one.ns_per_kib(party)
            for party in self.parties
            if party in one.shares
        )

    def share(self, one: Repetition) -> float:
        """Return its share of the samples of the parties that have it [0 to 1]."""
        having = [
            party
            for party in self.parties
            if party in one.shares and self.box.name in one.shares[party].boxes
        ]
        total = sum(one.ns_per_kib(party) for party in having)
        return self.ns_per_kib(one) / total if total else 0.0

    def function(self, cell: Iterable[Repetition]) -> str:
        """Return the function by which most samples came there, '' if there were none."""
        sums: dict[str, float] = defaultdict(float)
        for one in cell:
            for party in [party for party in self.parties if party in one.shares]:
                for (box, name), share in one.shares[party].box_functions.items():
                    if box == self.box.name:
                        sums[name] += share.own * one.cpus(party)
        return max(sorted(sums), key=sums.__getitem__, default="")


def places_on(testbed: str, data_path: DataPath) -> list[Place]:
    """Return the parts of the way on a testbed, in its order; what is on none of them is the last.

    Where both sides run in one guest, no byte passes the host.
    """
    parties = parties_on(testbed)
    inside = tuple(party for party in parties if not is_hypervisor(party))
    around = [box for box in data_path.boxes if box.lane == "host"]
    found = []
    for lane in _LANES:
        side: SideName = "sender" if "down" in lane else "receiver"
        own = hypervisor_of([side])
        taken = [box for box in data_path.boxes if box.lane == lane]
        if not lane.startswith("host"):
            found += [Place(box, inside) for box in taken]
        elif own in parties:
            # a hypervisor works next to its guest: before the host's kernel, or after
            way = [*around, *taken] if side == "sender" else [*taken, *around]
            found += [Place(box, (own,)) for box in way]
    placed = {party for place in found for party in place.parties}
    shared = tuple(party for party in parties if party not in placed)
    if shared:
        found += [Place(box, shared) for box in around if not box.copies]
    return [*found, Place(_REST, parties)]


def way_facts(
    cell: Sequence[Repetition], data_path: DataPath, settings: StatisticsSettings
) -> list[dict[str, Any]]:
    """Return the parts of the way that took CPU time, in its order."""
    counted = [one for one in cell if one.run.received_bytes]
    transport = transport_of(cell[0].key.testbed)
    found = []
    for number, place in enumerate(places_on(cell[0].key.testbed, data_path)):
        costs = [place.ns_per_kib(one) for one in counted]
        if any(costs):
            found.append(
                {
                    # of the box, and its number on the way
                    "name": place.box.name,
                    "title": place.box.titles[transport],
                    "place": number,
                    "party": place.party,  # the hypervisor that does it, or None
                    # whether every byte is copied there, in every repetition
                    "copied": place.box.copies and min(costs) >= LEAST_NS_PER_KIB,
                    # the function by which most samples came there
                    "function": place.function(counted),
                    # its own CPU time, all parties together, with its interval
                    "ns_per_kib": estimate(costs, settings),
                    "share": estimate(  # of the samples of the parties that have it
                        [place.share(one) for one in counted], settings, is_share=True
                    ),
                }
            )
    return found
