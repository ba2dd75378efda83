"""What a program on this machine holds and leaves; what any host's does: tests/unit/hosts."""

import os
import threading
from pathlib import Path

import pytest
from setups import HOST

from copycost.errors import CannotStart
from copycost.hosts.processes import usage_of
from copycost.hosts.program import CONTROL, Launch, LocalProgram

# the longest that a busy host may take for anything [s]
LONG_S = 60.0


def shell(script: str) -> LocalProgram:
    return HOST.start(Launch(("bash", "-c", script), "bash"))


def n_open() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_no_descriptor_is_left_whether_or_not_it_could_be_executed() -> None:
    before = n_open()
    program = HOST.start(Launch(("true", CONTROL), "true", True, files=("a",), pipes=("b",)))
    assert program.wait(LONG_S) == 0
    program.close()
    with pytest.raises(CannotStart, match="/no/program: cannot be started: No such file"):
        HOST.start(Launch(("/no/program", CONTROL), "/no/program", True, files=("a",)))
    assert n_open() == before


def test_a_program_holds_the_lock_as_long_as_it_runs(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with HOST.lock(path, ()):
        program = shell(f'ls -l /proc/self/fd | grep -c "{path}"')
        assert program.wait(LONG_S) == 0
    later = shell(f'ls -l /proc/self/fd | grep -c "{path}"')
    assert later.wait(LONG_S) == 1
    program.close()
    later.close()


def test_what_a_process_reads_and_writes_is_counted_and_processes_are_added_up() -> None:
    pid = os.getpid()
    before = usage_of([pid])
    read_end, write_end = os.pipe()
    os.write(write_end, b"x" * 4096)
    os.read(read_end, 4096)
    os.close(read_end)
    os.close(write_end)
    used = usage_of([pid]) - before
    assert min(used.read_bytes or 0, used.written_bytes or 0) >= 4096
    assert min(used.read_calls or 0, used.write_calls or 0) >= 1
    assert usage_of([pid, pid]).cpu_ns > 1.5 * usage_of([pid]).cpu_ns


def test_the_waiting_of_a_thread_that_has_ended_is_not_known() -> None:
    pid, go_on = os.getpid(), threading.Event()
    thread = threading.Thread(target=go_on.wait)
    thread.start()
    before = usage_of([pid])
    while_it_lives = usage_of([pid]) - before
    go_on.set()
    thread.join()
    while Path(f"/proc/{pid}/task/{thread.native_id}").exists():
        pass  # the kernel takes it away a moment after it was joined
    if before.waiting_ns is not None:  # a kernel without CONFIG_SCHED_INFO tells nothing
        assert (while_it_lives.waiting_ns or 0) >= 0
    assert (usage_of([pid]) - before).waiting_ns is None
