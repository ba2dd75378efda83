"""Which driver makes the traffic of a cell."""

from pathlib import Path

from copycost.config.strategy_capabilities import IPERF3
from copycost.measure.drivers.iperf3.driver import Iperf3
from copycost.measure.drivers.programs.abba_pair import Pair
from copycost.measure.drivers.programs.driver import DEFAULT_IO_TIMEOUT_S, Programs
from copycost.measure.drivers.protocol import Driver


def driver_of(
    implementation: str,
    sender: Path | None,
    receiver: Path | None,
    io_timeout_s: float = DEFAULT_IO_TIMEOUT_S,
    reference: tuple[str, Path] | None = None,
) -> Driver:
    """Return the driver of an implementation, and of a reference to measure beside, if any.

    Programs of ours are given where they drive; no receiver where nobody receives.
    """
    if implementation == IPERF3:
        return Iperf3()
    assert sender is not None, "every way to send but iperf3 has a program"
    way = Programs(sender, receiver, io_timeout_s)
    if reference is None:
        return way
    return Pair(way, Programs(reference[1], receiver, io_timeout_s), reference[0])
