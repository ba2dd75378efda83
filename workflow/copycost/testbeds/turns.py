"""Our turn on two machines at once, without waiting for one another for ever."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from copycost.hosts.local import LocalHost
from copycost.hosts.remote.host import RemoteHost

_BOOT_ID = "proc/sys/kernel/random/boot_id"


def is_before(here: LocalHost, there: RemoteHost, addresses: tuple[str, str]) -> bool:
    """Return whether our machine's lock is the first to be taken of the two.

    Both machines say the same of it: the numbers of their boots decide, and between containers of
    one machine their addresses, ours and the other's.
    """
    ours, theirs = here.files.text(_BOOT_ID), there.introduction["kernel"]["boot_id"]
    return (ours or "", addresses[0]) < (theirs or "", addresses[1])


@contextmanager
def turn_there_too(
    here: LocalHost,
    there: RemoteHost,
    parent_fds: Sequence[int],
    *,
    keeps_ours: bool,
    path: Path | None = None,
) -> Iterator[None]:
    """Have the lock of another machine besides ours for the time of the block.

    Two machines that measure with each other hold their own and wait for the other's. The one whose
    own is not the first to be taken (`keeps_ours`, see `is_before`) gives it back meanwhile, and
    takes it again afterwards. MeasurementStopped if the workflow ends while we wait.
    """
    ours = here.turn
    give_way = (lambda: None) if ours is None or keeps_ours else ours.give_back
    with there.lock(path, parent_fds, give_way) as theirs:
        if ours is not None:
            ours.take(parent_fds)
            ours.wait_s += theirs.wait_s
        yield
