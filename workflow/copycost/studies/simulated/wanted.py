"""Whether counts are to be simulated where the configuration leaves that to us."""

from copycost.config.settings import AUTO
from copycost.config.simulated import Simulated
from copycost.config.simulation_variants import start_of
from copycost.errors import Unavailable
from copycost.hosts.guest.image import find_busybox
from copycost.hosts.guest.kernel import kernel_source
from copycost.hosts.guest.qemu import require_plugins
from copycost.observers.perf.probe import counts_with_kernel

MOST_S = 60.0
"""What a plain run may take longer for it [s]."""

# A guest that boots and is saved, all walks, a cell, a message, and a byte of it, on a processor of
# 2023 [s]; most of a cell is that the start of its programs is translated.
_BOOT_S = 7.0
_WALKS_S = 3.5
_CELL_S = 0.65
_MESSAGE_S = 20e-6
_BYTE_S = 20e-9

_EVENTS = ("l1d_load_misses", "llc_load_misses")


def require_wanted(section: Simulated) -> None:
    """Do nothing where counts are to be simulated.

    Raises `Unavailable` if the configuration says `auto`, and it would take long, something of what
    it takes is missing here, or this host counts the misses of its first and its last level itself,
    the kernel's too.
    """
    if section.enabled != AUTO:
        return
    ask = "set simulated.enabled to true in config.yaml"
    if (expected := expected_s(section)) > MOST_S:
        why = f"it would take about {expected:.0f} s, more than the {MOST_S:.0f} s that auto allows"
        raise Unavailable(why, f"{ask}, or shorten its lists")
    require_plugins()
    find_busybox()
    kernel_source()
    if counts_with_kernel(_EVENTS):
        raise Unavailable("this host counts cache misses itself", ask)


def expected_s(section: Simulated) -> float:
    """Return how long all cells take on one core [s]."""
    cells, counting = section.cells(), section.counting()
    starts = {start_of(cell.variant) for cell in cells}
    expected = _WALKS_S + len(starts) * _BOOT_S
    for cell in cells:
        n_messages = counting.n_messages(cell.msg_bytes)
        expected += _CELL_S + n_messages * (_MESSAGE_S + cell.msg_bytes * _BYTE_S)
    return expected
