"""The memory floor of this host, measured for real."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from statistics import median

import pytest

from copycost.build.toolchain import compile_program
from copycost.hosts.facts.cpu import read_caches
from copycost.hosts.facts.files import HostFiles, Unknowns
from copycost.studies.memory.floor import measure_memory

pytestmark = pytest.mark.alone
ROOT = Path(__file__).parents[2]
SMALLEST_BYTES = 16 << 10


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bin") / "memory_floor"
    compile_program("memory_floor", None, path, root=ROOT)
    return path


def used_s(pid: int) -> float:
    """Return the CPU time of a process with one thread."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def test_time_without_a_cpu_costs_nothing(program: Path) -> None:
    # 60 values of 8 ms each, of which one is interrupted for the time of 60
    command = [program, "--max-bytes", str(SMALLEST_BYTES), "--repetitions", "60"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        while used_s(process.pid) < 0.1:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGCONT)
        assert process.stdout is not None
        (point,) = json.load(process.stdout)["points"]
    assert max(point["ns_per_byte"]) < 20 * median(point["ns_per_byte"])


def test_the_floor_is_measured_from_the_first_cache_to_out_of_the_last(
    program: Path, tmp_path: Path
) -> None:
    host = {"cpu": {"caches": read_caches(HostFiles(), Unknowns())}}
    record = measure_memory(program, host, lock_path=tmp_path / "lock")
    assert record["status"] == "measured", record["reason"]
    assert record["floor"] is not None
    settings, points = record["settings"], record["floor"]["points"]
    n_sizes = (settings["max_bytes"] // SMALLEST_BYTES).bit_length()
    assert [point["bytes"] for point in points] == [SMALLEST_BYTES << i for i in range(n_sizes)]
    assert {len(point["ns_per_byte"]) for point in points} == {settings["repetitions"]}
