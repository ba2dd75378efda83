"""perf record beside running processes, on the real perf."""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from setups import HOST
from unit.hosts.places import running

from copycost.errors import HostError
from copycost.hosts.host import Program
from copycost.hosts.side import Side
from copycost.observers.sampler import Sampler
from copycost.observers.sampling_access import SamplingPlan
from copycost.testbeds.testbed import Guest, Testbed

PERF = shutil.which("perf")
_BUSY = (sys.executable, "-c", "while True: sum(range(20000))")


def _program() -> Iterator[Program]:
    with running(*_BUSY) as program:
        yield program


program = pytest.fixture(_program, name="program")
hypervisor = pytest.fixture(_program, name="hypervisor")


@pytest.fixture
def busy(program: Program) -> Side:
    return Side("sender", HOST, [program])


def sampler(path: str, event: str = "cpu-clock:u") -> Sampler:
    return Sampler(lambda _: SamplingPlan(path, "6", event, 499), n_threads=1)


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (None, "No such file"),
        ("echo 'Permission denied by policy' >&2; exit 255", "Permission denied by policy"),
    ],
    ids=["not there", "gives up"],
)
def test_a_perf_that_cannot_sample_is_a_failure_with_its_last_words(
    tmp_path: Path, busy: Side, script: str | None, why: str
) -> None:
    perf = tmp_path / "perf"
    if script is not None:
        perf.write_text(f"#!/bin/sh\n{script}\n")
        perf.chmod(0o755)
    with closing(sampler(str(perf))) as samples:
        samples.attach([busy])
        samples.window_begins()
        samples.window_ends()
        samples.traffic_ends([busy])
        with pytest.raises(HostError, match=why):
            samples.found()
        assert samples.stacks == {}


@pytest.mark.skipif(PERF is None, reason="perf is not installed")
@pytest.mark.needs_root
@pytest.mark.slow
def test_a_guest_is_sampled_as_a_whole_and_its_hypervisor_from_outside(
    busy: Side, hypervisor: Program
) -> None:
    """This machine stands for the guest, and a program that keeps busy for its hypervisor."""
    assert PERF is not None
    guest = Guest("guest a", ("sender",), HOST, hypervisor.pid)
    testbed = cast("Testbed", SimpleNamespace(guests=(guest,)))
    with closing(sampler(PERF, "cpu-clock")) as samples:
        samples.open(HOST)
        samples.prepare(testbed)
        samples.attach([busy])
        if samples.failure:
            pytest.skip(f"perf may not sample here: {samples.failure}")
        samples.window_begins()
        time.sleep(0.5)
        samples.window_ends()
        samples.traffic_ends([busy])
        found = samples.found()
        stacks = samples.stacks
    assert list(stacks) == ["sender", "sender_guest", "sender_qemu"]
    assert list(found["sides"]) == list(stacks)
    assert all(one.samples > 0 for one in stacks.values())
    outside = stacks["sender_qemu"]
    assert all(stack.startswith("main loop and I/O_[h];") for stack in outside.weights)
    # the program that stands for the hypervisor runs on the machine that stands for the guest
    assert stacks["sender_guest"].samples >= 0.5 * outside.samples
