"""The program that copies memory: its working sets, its values, and what it refuses."""

import json
import os
import resource
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from c.conftest import Build
from c.harness import LIMIT_S


def run(build: Build, *options: str) -> subprocess.CompletedProcess[str]:
    program = build.program("memory_floor", None)
    return subprocess.run([program, *options], capture_output=True, text=True, timeout=LIMIT_S)


def test_every_working_set_is_measured_as_often_as_asked(address_build: Build) -> None:
    cpu = max(os.sched_getaffinity(0))
    done = run(address_build, "--max-bytes", "70000", "--repetitions", "2", "--cpu", str(cpu))
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert set(result) == {"schema_version", "program", "build", "options", "points"}
    assert result["options"] == {"max_bytes": 70000, "repetitions": 2, "cpu": cpu}
    assert [point["bytes"] for point in result["points"]] == [16384, 32768, 65536]
    for point in result["points"]:
        assert len(point["ns_per_byte"]) == 2
        assert all(value > 0 for value in point["ns_per_byte"])


@pytest.mark.parametrize(
    "options",
    [
        ["--max-bytes", "1000"],
        ["--max-bytes"],
        ["--repetitions", "0"],
        ["--cpu", "-1"],
        ["--wrong", "1"],
    ],
)
def test_bad_usage(address_build: Build, options: Sequence[str]) -> None:
    done = run(address_build, *options)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"memory_floor: {options[0]}")


def test_a_cpu_that_is_not_there_is_a_failure(address_build: Build) -> None:
    done = run(address_build, "--cpu", "1023")
    assert done.returncode == 1
    assert done.stderr.startswith("memory_floor: sched_setaffinity to CPU 1023: ")


def limit_memory() -> None:
    """Allow 64 MiB of address space, for preexec_fn."""
    resource.setrlimit(resource.RLIMIT_AS, (64 << 20, 64 << 20))


def test_too_little_memory_is_a_failure(plain_build: Build) -> None:
    program = plain_build.program("memory_floor", None)
    command = [program, "--max-bytes", str(256 << 20)]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit_memory)
    assert done.returncode == 1
    assert "a working set of 268435456 bytes: Cannot allocate memory" in done.stderr


def test_help_and_version(address_build: Build) -> None:
    assert "--max-bytes N" in run(address_build, "--help").stdout
    assert run(address_build, "--version").stdout.startswith("memory_floor, source ")


def test_no_room_for_the_result(address_build: Build) -> None:
    program = address_build.program("memory_floor", None)
    command = [program, "--max-bytes", "16384", "--repetitions", "1"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "memory_floor: write to stdout: No space left on device\n"
