import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from copycost.errors import HostError
from copycost.hosts.placement import Placement
from copycost.measure.bench import locked_host
from copycost.testbeds.testbed import open_testbed
from tools.bench.pair import BARE, Programs, message_ns, received_rate, run_pair
from tools.bench.streaming import sampling_rows
from tools.bench.yardstick import Stream

ROOT = Path(__file__).parents[3]
ANY = tuple(os.sched_getaffinity(0))
FREE = Placement(ANY, ANY, pinned=False)
STREAM = Stream(4096, 1, 0, 1, FREE)


@pytest.fixture(scope="module")
def programs() -> Iterator[Programs]:
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(Path(folder))
        programs.build(["null"], ROOT)
        yield programs


def test_cost_of_samples_is_what_they_add_to_the_bare_loop() -> None:
    times = {
        "null": [12.0, 13.0],
        "null" + BARE: [10.0, 10.0],
        "two_copy": [1010.0, 1000.0],
        "two_copy" + BARE: [1000.0, 1000.0],
    }
    alone, in_throughput = sampling_rows("4 KiB", times)
    assert alone.value == pytest.approx(0.25)
    assert alone.limit is not None
    assert in_throughput.value == pytest.approx(0.5)
    assert in_throughput.limit is None


@pytest.fixture
def lock_path(tmp_path: Path) -> Path:
    """A lock of the test's own: other tests measure meanwhile."""
    return tmp_path / "lock"


@pytest.mark.slow
@pytest.mark.parametrize("sender", ["null", "null" + BARE])
def test_real_pair_gives_a_rate_and_a_time_per_message(
    programs: Programs, sender: str, lock_path: Path
) -> None:
    with locked_host("test", lock_path) as held, open_testbed("loopback") as testbed:
        measured = run_pair(held, testbed, programs, sender, STREAM)
    assert received_rate(measured) == 0  # it sends nothing
    assert message_ns(measured) > 0
    samples = measured.entry["sender"]["service_time"]["samples"]
    assert (samples == 0) == sender.endswith(BARE)


def test_program_that_fails_is_named(programs: Programs, lock_path: Path) -> None:
    broken = programs.sender("broken")
    broken.write_text("#!/bin/sh\necho 'sender: broken: no luck' >&2\nexit 1\n")
    broken.chmod(0o755)
    with (
        locked_host("test", lock_path) as held,
        open_testbed("loopback") as testbed,
        pytest.raises(HostError, match="broken failed"),
    ):
        run_pair(held, testbed, programs, "broken", STREAM)
