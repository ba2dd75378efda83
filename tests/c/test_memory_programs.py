"""The programs that send nothing: one copies memory, one walks through it; what both refuse."""

import os
import resource
import socket

import pytest
from c.conftest import Build
from c.harness import run, start

from copycost.build.toolchain import Program

FLOOR: Program = "memory_floor"
WALK: Program = "simulated_walk"


def test_every_working_set_is_measured_as_often_as_asked(address_build: Build) -> None:
    cpu = max(os.sched_getaffinity(0))
    options = ["--max-bytes", "70000", "--repetitions", "2", "--cpu", str(cpu)]
    done = run([address_build.program(FLOOR, None), *options])
    assert done.code == 0, done.stderr
    result = done.result
    assert set(result) == {"schema_version", "program", "build", "options", "points"}
    assert result["options"] == {"max_bytes": 70000, "repetitions": 2, "cpu": cpu}
    assert [point["bytes"] for point in result["points"]] == [16384, 32768, 65536]
    for point in result["points"]:
        assert len(point["ns_per_byte"]) == 2
        assert all(value > 0 for value in point["ns_per_byte"])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("memory_floor", "--max-bytes 1000"),
        ("memory_floor", "--cpu -1"),
        ("memory_floor", "--wrong 1"),
        ("simulated_walk", "--bytes 1000"),
        ("simulated_walk", "--bytes 4160"),
        ("simulated_walk", "--pattern zigzag"),
        ("simulated_walk", "--pattern"),
        ("simulated_walk", "--wrong 1"),
    ],
)
def test_bad_usage(address_build: Build, name: Program, words: str) -> None:
    options = words.split()
    done = run([address_build.program(name, None), *options])
    assert done.code == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"{name}: {options[0]}")


def test_a_cpu_that_is_not_there_is_a_failure(address_build: Build) -> None:
    done = run([address_build.program(FLOOR, None), "--cpu", "1023"])
    assert done.code == 1
    assert done.stderr.startswith("memory_floor: sched_setaffinity to CPU 1023: ")


def limit_memory() -> None:
    """Allow 64 MiB of address space, for preexec_fn."""
    resource.setrlimit(resource.RLIMIT_AS, (64 << 20, 64 << 20))


def test_too_little_memory_is_a_failure(plain_build: Build) -> None:
    command = [plain_build.program(FLOOR, None), "--max-bytes", str(256 << 20)]
    done = run(command, preexec_fn=limit_memory)
    assert done.code == 1
    assert "a working set of 268435456 bytes: Cannot allocate memory" in done.stderr


# --- the program that walks through memory: its rounds, and its part as a sender


@pytest.mark.parametrize("pattern", ["strided", "random", "copy"])
def test_every_line_is_touched_once_a_round(address_build: Build, pattern: str) -> None:
    options = ["--pattern", pattern, "--bytes", "65536", "--rounds", "3"]
    done = run([address_build.program(WALK, None), *options])
    assert done.code == 0, done.stderr
    assert (done.result["pattern"], done.result["lines"]) == (pattern, 3 * 1024)


def test_it_takes_the_place_of_a_sender(address_build: Build) -> None:
    with start([address_build.program(WALK, None)]) as walker:
        assert [walker.read_line(), walker.read_line()] == ["listening 0", "ready"]
        walker.say("window 1 2")
        assert walker.read_line() == "measured"
        outcome = walker.finish()
    assert outcome.code == 0
    assert outcome.result["lines"] == 64


def test_an_orchestrator_that_goes_ends_it(address_build: Build) -> None:
    with start([address_build.program(WALK, None)], first_line="") as walker:
        walker.control.shutdown(socket.SHUT_WR)
        outcome = walker.finish()
    assert outcome.code == 1
    assert outcome.stderr == "simulated_walk: the control line: Broken pipe\n"
