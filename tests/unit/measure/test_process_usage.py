"""CPU time and bytes of a process, as the kernel counts them."""

import os
import threading
from pathlib import Path

from copycost.hosts.process_usage import usage_of, written_bytes


def test_bytes_written_are_counted_as_they_are_written() -> None:
    pid = os.getpid()
    before, reads = written_bytes(pid), usage_of([pid])
    read_end, write_end = os.pipe()
    os.write(write_end, b"x" * 4096)
    os.read(read_end, 4096)
    os.close(read_end)
    os.close(write_end)
    after = written_bytes(pid)
    used = usage_of([pid]) - reads
    assert before is not None
    assert after is not None
    assert after - before >= 4096
    assert used.read_bytes is not None
    assert used.read_bytes >= 4096
    assert used.write_calls is not None
    assert used.write_calls >= 1


def test_cpu_time_is_at_most_the_time_that_passed() -> None:
    before = usage_of([os.getpid()])
    total = sum(range(200_000))
    used = usage_of([os.getpid()]) - before
    assert total
    assert 0 < used.cpu_ns <= used.at_ns * (os.cpu_count() or 1)


def test_processes_are_added_up() -> None:
    pid = os.getpid()
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
    later = usage_of([pid])
    if before.waiting_ns is not None:  # a kernel without CONFIG_SCHED_INFO tells nothing
        assert while_it_lives.waiting_ns is not None
        assert while_it_lives.waiting_ns >= 0
    assert (later - before).waiting_ns is None
    assert (later - before).cpu_ns >= while_it_lives.cpu_ns
