"""Zero-copy sends where memory is short, and whether the programs count their own calls rightly."""

import ctypes
import resource
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from c.conftest import Build
from c.harness import (
    Setting,
    assert_failed,
    begin_window,
    inside_network_of,
    ready_pair,
    run_pair,
    sending,
)

PR_CAPBSET_DROP = 24  # linux/prctl.h
CAP_IPC_LOCK = 14  # linux/capability.h: exempts root from RLIMIT_MEMLOCK


def limit_locked_memory(limit_bytes: int = 65536) -> None:
    """Allow little locked memory (64 KiB: as many systems did for long); for preexec_fn."""
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (limit_bytes, limit_bytes))
    # Fails without root, who has no such capability to lose.
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0)


@pytest.mark.parametrize("n_threads", [1, 4])
def test_little_locked_memory_delays_but_loses_nothing(
    address_build: Build, n_threads: int
) -> None:
    setting = Setting(msg_bytes=20000, n_threads=n_threads, verify=True)
    sender, receiver = run_pair(
        address_build.sender("zero_copy"),
        address_build.receiver,
        setting,
        preexec_fn=limit_locked_memory,
    )
    assert (sender.code, receiver.code) == (0, 0), sender.stderr
    sent = sender.result
    assert sent["total"]["enobufs_count"] > 0
    assert sent["zero_copy"]["sent"] == sent["zero_copy"]["completed"] > 0
    assert receiver.result["verify"]["checked_bytes"] == sent["total"]["bytes"]


def test_too_little_locked_memory_names_limit_and_remedy(address_build: Build) -> None:
    setting = Setting(msg_bytes=1 << 20, duration_s=30)
    program = address_build.sender("zero_copy")
    with sending(program, setting, preexec_fn=limit_locked_memory) as (sender, _):
        outcome = sender.finish()
    assert_failed(outcome, "RLIMIT_MEMLOCK is 65536", "ulimit -l", "No buffer space")


@pytest.mark.needs_root
@pytest.mark.parametrize("optmem_max", [100, 2048])
def test_little_option_memory(address_build: Build, optmem_max: int) -> None:
    """Below the size of one notification nothing can be sent; two of them suffice."""
    script = f'echo {optmem_max} > /proc/sys/net/core/optmem_max && ip link set lo up && exec "$@"'
    wrapper = ["unshare", "--net", "sh", "-c", script, "sh"]
    probe = subprocess.run([*wrapper, "true"], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        pytest.skip(f"optmem_max cannot be set in a namespace here: {probe.stderr.strip()}")
    setting = Setting(msg_bytes=9000, io_timeout_ms=500, verify=True)
    programs = address_build.sender("zero_copy"), address_build.receiver
    with ready_pair(*programs, setting, inside_network_of, wrapper=wrapper) as (sender, receiver):
        begin_window(setting, sender, receiver)
        # While it stands still sends stay in flight, and each holds option memory.
        receiver.process.send_signal(signal.SIGSTOP)
        time.sleep(0.05)
        receiver.process.send_signal(signal.SIGCONT)
        outcomes = sender.finish(), receiver.finish()
    if optmem_max == 100:
        assert_failed(outcomes[0], "net.core.optmem_max is 100;", "sysctl -w")
    else:
        assert [outcome.code for outcome in outcomes] == [0, 0], outcomes[0].stderr
        assert outcomes[0].result["total"]["enobufs_count"] > 0


def count_system_calls(file: Path) -> int:
    """Return the count of a `perf stat -x,` file with one event."""
    lines = [line for line in file.read_text().splitlines() if line and line[0] != "#"]
    return int(lines[0].split(",")[0])


def perf_wrapper(file: Path) -> Sequence[str]:
    return ["perf", "stat", "-x,", "-o", str(file), "-e", "raw_syscalls:sys_enter", "--"]


def assert_calls_are_counted(sender_program: Path, receiver_program: Path, file: Path) -> None:
    """Check what a sender counts against the kernel; skip where that cannot be asked."""
    probe = subprocess.run(
        [*perf_wrapper(file), "true"], capture_output=True, text=True, check=False
    )
    if probe.returncode != 0:
        pytest.skip(f"no raw_syscalls:sys_enter here: {probe.stderr.strip().splitlines()[-1]}")
    setting = Setting(msg_bytes=4096, n_threads=2, duration_s=0.3)
    sender, receiver = run_pair(
        sender_program, receiver_program, setting, wrapper=perf_wrapper(file)
    )
    assert (sender.code, receiver.code) == (0, 0), sender.stderr
    total = sender.result["total"]
    keys = ("send_calls", "poll_calls", "errqueue_calls", "other_calls")
    own = sum(total[key] for key in keys)
    # Start, connections, memory, threads, the main thread's waits and snapshots.
    constant = count_system_calls(file) - own
    assert 50 < constant < 1500 < own
