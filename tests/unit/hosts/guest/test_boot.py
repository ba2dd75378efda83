"""Real guests: they boot, and are given up in time; how they end is measured with the daemon."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import guests
import pytest

from copycost.errors import HostError
from copycost.hosts.guest.boot import RunningGuest
from copycost.hosts.guest.host import guest_failed
from copycost.hosts.guest.image import GuestImage
from copycost.hosts.guest.qemu import GuestSpec, find_qemu

pytestmark = [pytest.mark.needs_guests, pytest.mark.slow]
TIMEOUT_S = 60
Starter = Callable[..., RunningGuest]


@pytest.fixture(scope="module")
def initrd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("guest") / "initrd"
    GuestImage(guests.kernel(), guests.DRIVERS).write(path)
    return path


@pytest.fixture
def started(initrd: Path) -> Iterator[Starter]:
    with ExitStack() as stack:

        def start(*command: str) -> RunningGuest:
            spec = GuestSpec(
                find_qemu(), str(guests.kernel().image), str(initrd), memory_bytes=128 << 20
            )
            return stack.enter_context(closing(RunningGuest(spec, "test", command)))

        yield start


def test_a_guest_boots_runs_a_command_and_ends(started: Starter) -> None:
    guest = started("uname", "-r")
    guest.await_up(TIMEOUT_S)
    assert guest.wait(TIMEOUT_S) == 0
    lines = guest.console()
    assert guests.kernel().release in lines
    assert "copycost: uname ended with exit status 0" in lines


def test_a_guest_that_does_not_come_up_is_given_up(started: Starter) -> None:
    guest = started("sleep", "99")
    with pytest.raises(HostError, match=r"was not up within 0\.2 s; the last lines"):
        guest.await_up(0.2)


def test_a_guest_that_is_not_up_in_time_may_lack_memory() -> None:
    assert "virtual.memory_mib" in guest_failed("the guest was not up within 120 s; ...").remedy
    assert "virtual.memory_mib" not in guest_failed("its agent died").remedy
