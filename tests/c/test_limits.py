"""Zero-copy sends where memory is short, or the kernel does not tell what it copied."""

import ctypes
import resource
import signal
import time
from functools import partial
from pathlib import Path

import pytest
from c.conftest import Build
from c.harness import (
    SOON_S,
    Setting,
    assert_failed,
    begin_window,
    greeted,
    inside_network_of,
    over_udp,
    ready_pair,
    results,
    run,
    sending,
)
from c.variants import sender_variant

PR_CAPBSET_DROP = 24  # linux/prctl.h
CAP_IPC_LOCK = 14  # linux/capability.h: exempts root from RLIMIT_MEMLOCK


def limit_locked_memory(limit_bytes: int = 65536) -> None:
    """Allow little locked memory (64 KiB: as many systems did for long); for preexec_fn."""
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (limit_bytes, limit_bytes))
    # Fails without root, who has no such capability to lose.
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0)


# Since Linux 6.14 the rings of io_uring themselves count as well.
LIMITS = {"zero_copy": 64 << 10, "uring_zero_copy": 256 << 10}


@pytest.mark.parametrize("way", LIMITS)
def test_little_locked_memory_delays_but_loses_nothing(address_build: Build, way: str) -> None:
    setting = Setting(msg_bytes=20000, n_threads=4, verify=True)
    limit = partial(limit_locked_memory, LIMITS[way])
    sent, _ = results(*address_build.pair(way), setting, preexec_fn=limit)
    assert sent["total"]["enobufs_count"] > 0


@pytest.mark.parametrize("way", LIMITS)
def test_too_little_locked_memory_names_the_limit_and_the_remedy(
    address_build: Build, way: str
) -> None:
    program, setting = address_build.usable("sender", way), Setting(1 << 20, duration_s=30)
    with sending(program, setting, preexec_fn=limit_locked_memory) as (sender, _):
        began = time.monotonic()
        words = (way, "RLIMIT_MEMLOCK is 65536", "ulimit -l", "No buffer space")
        assert_failed(sender.finish(), *words)
        assert time.monotonic() - began < SOON_S, "nothing can come of waiting"


@pytest.mark.needs_root
@pytest.mark.parametrize("optmem_max", [100, 2048])
def test_little_option_memory(address_build: Build, optmem_max: int) -> None:
    """Below the size of one notification nothing can be sent; two of them suffice."""
    script = f'echo {optmem_max} > /proc/sys/net/core/optmem_max && ip link set lo up && exec "$@"'
    wrapper = ["unshare", "--net", "sh", "-c", script, "sh"]
    probe = run([*wrapper, "true"])
    if probe.code != 0:
        pytest.skip(f"optmem_max cannot be set in a namespace here: {probe.stderr.strip()}")
    setting = Setting(msg_bytes=9000, io_timeout_ms=500, verify=True)
    programs = address_build.pair("zero_copy")
    with ready_pair(*programs, setting, inside_network_of, wrapper=wrapper) as (sender, receiver):
        begin_window(setting, sender, receiver)
        # While it stands still sends stay in flight, and each holds option memory.
        receiver.process.send_signal(signal.SIGSTOP)
        time.sleep(0.05)
        receiver.process.send_signal(signal.SIGCONT)
        outcomes = sender.finish(), receiver.finish()
    if optmem_max == 100:
        assert_failed(outcomes[0], "net.core.optmem_max is 100)", "sysctl -w")
    else:
        assert [outcome.code for outcome in outcomes] == [0, 0], outcomes[0].stderr
        assert outcomes[0].result["total"]["enobufs_count"] > 0


def test_copies_that_the_kernel_does_not_report_are_unknown(
    tmp_path: Path, plain_build: Build
) -> None:
    """As Linux 6.1, which refuses a flag that it does not know."""
    plain_build.usable("sender", "uring_zero_copy")  # skips where there is none
    program = sender_variant(
        plain_build,
        "uring_zero_copy",
        tmp_path,
        {"uring/zc.c": ("IORING_SEND_ZC_REPORT_USAGE", "(1U << 14)")},
    )
    setting = Setting(duration_s=0.05, verify=True)
    sent, _ = results(program, plain_build.receiver, setting)
    assert sent["zero_copy"]["copied"] is None
    assert "Linux 6.2" in sent["zero_copy"]["copied_unknown"]


def test_refused_sends_are_no_zero_copy_sends(address_build: Build) -> None:
    """Of a send that is refused the kernel says that it was copied, though nothing was sent."""
    options = ["--batch", "32"]
    setting = over_udp(Setting(msg_bytes=20000, verify=True, sender_options=options))
    programs, limit = address_build.pair("uring_zero_copy"), partial(limit_locked_memory, 256 << 10)
    sent, _ = results(*programs, setting, preexec_fn=limit)
    assert sent["total"]["enobufs_count"] > 0
    assert sent["zero_copy"]["sent"] == sent["total"]["messages"]


def test_rings_for_which_locked_memory_is_too_small_are_not_available(address_build: Build) -> None:
    program = address_build.usable("sender", "uring_zero_copy")
    probe = run([program, "--probe"], preexec_fn=partial(limit_locked_memory, 4096))
    if probe.code == 0:
        pytest.skip("this kernel does not count them")
    assert probe.code == 77
    assert "RLIMIT_MEMLOCK" in probe.stderr
    assert "ulimit -l" in probe.stderr


@pytest.mark.parametrize("ring_bytes", [0, 8 << 20])
def test_a_ring_that_cannot_be_registered_is_not_available(
    address_build: Build, ring_bytes: int
) -> None:
    """As for an ordinary user: the kernel locks all messages at once."""
    options = ["--ring-bytes", str(ring_bytes)]
    setting = Setting(msg_bytes=4096, duration_s=0.03, sender_options=options)
    program = address_build.usable("sender", "uring_registered")
    limit = partial(limit_locked_memory, 2 << 20)
    if ring_bytes == 0:  # 256 messages fit; again and again, since each gives its memory back
        for _ in range(3):
            results(program, address_build.receiver, setting, preexec_fn=limit)
        return
    with greeted(program, setting, preexec_fn=limit) as (sender, _):
        outcome = sender.finish()
    assert (outcome.code, outcome.stdout) == (77, "")
    said = outcome.stderr.splitlines()[-1]
    assert said.startswith("sender: not available here: uring_registered: registering ")
    for words in ("RLIMIT_MEMLOCK", "ulimit -l", "a smaller working set"):
        assert words in said
