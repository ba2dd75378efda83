"""What a measured window tells of itself: its length, what perf counted of it, if it can be."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from copycost.config.testbeds import transport_of
from copycost.errors import DataError
from copycost.records.record import Record

# By which share perf may have counted for longer than the window.
_OFF_WINDOW = 0.05


def window_ns(side: Mapping[str, Any]) -> int:
    """Return the length of a side's window by its own account [ns]."""
    return int(side["window"]["end_ns"]) - int(side["window"]["start_ns"])


class Turns(NamedTuple):
    """All turns of one sender: how long it sent [ns], and how much [bytes]."""

    length_ns: int
    sent_bytes: int


def turns_of(driver: Mapping[str, Any]) -> tuple[Turns, Turns] | tuple[None, None]:
    """Return the turns of the way under test and of the reference; none where it sent alone."""
    if "slices" not in driver:
        return None, None
    ways = [[one for one in driver["slices"] if one[0] == way] for way in (0, 1)]
    way, reference = (
        Turns(sum(one[2] - one[1] for one in its), sum(one[3] for one in its)) for its in ways
    )
    return way, reference


def received_bytes(driver: Mapping[str, Any], turns: Turns | None) -> float:
    """Return the payload that arrived in the window [bytes]; on the sink, without what was lost."""
    sender, sink = driver["sender"], driver["sink"]
    received: float = (driver["receiver"] or sender)["in_window"]["bytes"]
    if turns is not None and sender["tcp"] is not None:
        # all has arrived, of which a receiver that waits for more (SO_RCVLOWAT) counts a part later
        received = turns.sent_bytes
    if sink is not None and sink["sent_datagrams"]:
        received *= 1 - (sink["lost_before_hook"] or 0) / sink["sent_datagrams"]
    return received


def counted_off_window(window: Mapping[str, Any]) -> bool:
    """Tell whether perf counted for longer than a side's window by more than a few percent.

    A program tells perf to begin before the window and to stop after it, and waits for the answers.
    """
    beyond_ns = (window["perf_enable_ns"] or 0) + (window["perf_disable_ns"] or 0)
    return bool(beyond_ns > _OFF_WINDOW * (window["end_ns"] - window["start_ns"]))


def require_possible(record: Record) -> None:
    """Refuse a record that no machine can give, be it busy, slow, virtual, or stopped now and then.

    Counts below 0 the schema refuses, shares above 1 the table. What is merely odd, a busy machine
    can give: the job that measured has told so in the warnings.
    """
    driver = record["driver"] or {}
    sides = {name: side for name in ("sender", "receiver") if (side := driver.get(name))}
    for name, side in sides.items():
        # a program reads its clock at one edge after the other, however late it gets to either
        if window_ns(side) <= 0:
            raise DataError(f"the {name}'s window lasts {window_ns(side)} ns")
    # totals are read once nothing more is sent or received; a network may bring a datagram twice
    if len(sides) == 2 and transport_of(record["cell"]["testbed"]) == "stream":
        sent, received = (sides[name]["total"]["bytes"] for name in ("sender", "receiver"))
        if received > sent:
            raise DataError(f"{received} bytes were received in all, {sent} sent")
