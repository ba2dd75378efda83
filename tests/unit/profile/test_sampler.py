"""perf record beside running processes, on the real perf."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from copycost.errors import HostError
from copycost.observers.sampler import Sampler
from copycost.observers.sampling_access import SamplingPlan

PERF = shutil.which("perf")
_BUSY = "while True: sum(range(20000))"


@pytest.fixture
def busy() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", _BUSY]) as process:
        yield process
        process.kill()


def plan(path: str, event: str = "cpu-clock:u") -> SamplingPlan:
    return SamplingPlan(path, "6", event, 499)


@pytest.mark.skipif(PERF is None, reason="perf is not installed")
def test_samples_are_those_of_the_window(tmp_path: Path, busy: subprocess.Popen[bytes]) -> None:
    assert PERF is not None
    with Sampler(plan(PERF), tmp_path) as sampler:
        sampler.attach_to({"sender": (busy.pid,)})
        if sampler.failure:
            pytest.skip(f"perf may not sample here: {sampler.failure}")
        time.sleep(0.05)  # before the window nothing is sampled
        sampler.window_begins()
        deadline_s = time.monotonic() + 10.0
        before_s = _cpu_s(busy.pid)
        while _cpu_s(busy.pid) < before_s + 0.1 and time.monotonic() < deadline_s:
            time.sleep(0.01)
        sampler.window_ends()
        sampled = sampler.read()
    stacks = sampled.of(sampler.processes["sender"])
    assert stacks.samples == sampled.samples > 0
    assert not sampled.truncated
    assert list(tmp_path.iterdir()) == []  # perf's own file is gone


def _cpu_s(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / 100


def test_a_perf_that_is_not_there_is_a_failure_and_no_crash(tmp_path: Path) -> None:
    with Sampler(plan(str(tmp_path / "no_perf")), tmp_path) as sampler:
        sampler.attach_to({"sender": (1,)})
        sampler.window_begins()
        sampler.window_ends()
        with pytest.raises(HostError, match="No such file"):
            sampler.read()


def test_a_perf_that_gives_up_has_its_last_words_in_the_failure(tmp_path: Path) -> None:
    script = tmp_path / "perf"
    script.write_text("#!/bin/sh\necho 'Permission denied by policy' >&2\nexit 255\n")
    script.chmod(0o755)
    with Sampler(plan(str(script)), tmp_path) as sampler:
        sampler.attach_to({"sender": (1,)})
        sampler.window_begins()
        sampler.window_ends()
        with pytest.raises(HostError, match="Permission denied by policy"):
            sampler.read()
