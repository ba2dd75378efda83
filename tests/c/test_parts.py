"""Parts of the programs that are tested by themselves, in C; each file says what it checks."""

import subprocess
from pathlib import Path

import pytest
from c.conftest import Build

# each check, and the files of src that it is linked with
CHECKS = {
    "counters_check": [],
    "ring_check": ["memory", "messages/message", "messages/ring"],
    "stats_check": ["stats"],
    "uring_sends_check": ["uring/sends"],
    "uring_wait_check": ["clock", "failure", "uring/uring"],
    "zero_copy_check": [
        *("clock", "failure", "memory", "send_message"),
        *("connections/socket_option", "messages/message", "messages/ring"),
        *("zero_copy/error_queue", "zero_copy/limits"),
    ],
}


@pytest.mark.parametrize("name", CHECKS)
def test_what_a_check_says_of_a_part_holds(address_build: Build, tmp_path: Path, name: str) -> None:
    if name == "uring_wait_check":
        address_build.usable("sender", "uring_send")  # skips where there is none
    program = address_build.check_program(name, CHECKS[name], tmp_path)
    done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
