"""Who comes first at the edges of the window, in a real measurement."""

import os
import shutil
from pathlib import Path

import pytest
from measured.failures_support import Bench


def may_set_real_time() -> bool:
    child = os.posix_spawn("/bin/sleep", ["sleep", "60"], {})
    try:
        os.sched_setscheduler(child, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        return False
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
    return True


def policies(pid: int) -> list[int]:
    """Return the policy of each thread of a process, its main thread's first."""
    others = [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
    threads = sorted(others, key=lambda thread: thread != pid)
    return [os.sched_getscheduler(thread) & ~os.SCHED_RESET_ON_FORK for thread in threads]


def test_main_threads_and_perf_come_first_and_the_measured_threads_do_not(bench: Bench) -> None:
    if not may_set_real_time():
        pytest.skip("no right to give a process a real-time priority (CAP_SYS_NICE)")
    with bench.started("--threads", "2", "--duration", "20") as running:
        running.wait_for("window begins")
        for program in ("sender_two_copy", "receiver_recv"):
            pid = running.child(program)
            assert policies(pid) == [os.SCHED_FIFO, os.SCHED_OTHER, os.SCHED_OTHER]
        if shutil.which("perf"):
            assert policies(running.child("perf")) == [os.SCHED_FIFO]
