"""The program that walks through memory: its rounds, its part as a sender, what it refuses."""

import json
import socket
import subprocess
from collections.abc import Sequence

import pytest
from c.conftest import Build
from c.harness import LIMIT_S


def run(build: Build, *options: str) -> subprocess.CompletedProcess[str]:
    program = build.program("simulated_walk", None)
    return subprocess.run([program, *options], capture_output=True, text=True, timeout=LIMIT_S)


@pytest.mark.parametrize("pattern", ["strided", "random", "copy"])
def test_every_line_is_touched_once_a_round(address_build: Build, pattern: str) -> None:
    done = run(address_build, "--pattern", pattern, "--bytes", "65536", "--rounds", "3")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["pattern"], result["lines"]) == (pattern, 3 * 1024)


def test_it_takes_the_place_of_a_sender(address_build: Build) -> None:
    ours, its = socket.socketpair()
    with ours, its:
        words = [address_build.program("simulated_walk", None), "--control-fd", str(its.fileno())]
        with subprocess.Popen(words, pass_fds=[its.fileno()], stdout=subprocess.PIPE) as walker:
            its.close()
            ours.settimeout(LIMIT_S)
            said = ours.makefile("r")
            ours.sendall(b"token 0123456789abcdef\n")
            assert [said.readline(), said.readline()] == ["listening 0\n", "ready\n"]
            ours.sendall(b"window 1 2\n")
            assert said.readline() == "measured\n"
            output, _ = walker.communicate(timeout=LIMIT_S)
        assert walker.returncode == 0
        assert json.loads(output)["lines"] == 64


def test_an_orchestrator_that_goes_ends_it(address_build: Build) -> None:
    ours, its = socket.socketpair()
    words = [address_build.program("simulated_walk", None), "--control-fd", str(its.fileno())]
    with ours, its:
        ours.shutdown(socket.SHUT_WR)
        done = subprocess.run(words, pass_fds=[its.fileno()], capture_output=True, timeout=LIMIT_S)
    assert done.returncode == 1
    assert done.stderr == b"simulated_walk: the control line: Broken pipe\n"


@pytest.mark.parametrize(
    "options",
    [
        ["--bytes", "1000"],
        ["--bytes", "4160"],
        ["--rounds", "0"],
        ["--pattern", "zigzag"],
        ["--pattern"],
        ["--wrong", "1"],
    ],
)
def test_bad_usage(address_build: Build, options: Sequence[str]) -> None:
    done = run(address_build, *options)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"simulated_walk: {options[0]}")


def test_help_and_version(address_build: Build) -> None:
    assert "--pattern NAME" in run(address_build, "--help").stdout
    assert run(address_build, "--version").stdout.startswith("simulated_walk, source ")
