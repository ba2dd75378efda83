"""What the kernel lacks or forbids, io_uring above all: exit code 77, the reason and the remedy."""

import errno
import os
import platform
import shutil
import socket
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from c.conftest import Build
from c.harness import run
from c.variants import sender_variant
from measured.failures_wrappers import ARGUMENTS, NUMBER, forbid

from copycost.build.toolchain import Program

IO_URING_SETUP = 425  # the system call's number, everywhere the same
SETSOCKOPT = {"x86_64": 54, "aarch64": 208}
SO_ZEROCOPY = 60
needs_filter = pytest.mark.skipif(
    platform.machine() not in SETSOCKOPT, reason="the filter is for 64 bits"
)

URING = ("uring_registered", "uring_send", "uring_sendmsg", "uring_zero_copy")

# What includes uring.h, if only through other headers.
SOURCES = [f"uring/{name}.c" for name in ("uring", "batch", "region", "stream", "zc")]


def refuse_uring(error: int) -> Callable[[], None]:
    """Return what makes a process one to which a seccomp filter refuses io_uring_setup."""
    return partial(forbid, error, (NUMBER, IO_URING_SETUP))


@needs_filter
def test_a_kernel_without_zero_copy_is_told_by_the_exit_code(plain_build: Build) -> None:
    refuse = partial(
        forbid,
        errno.ENOPROTOOPT,
        (NUMBER, SETSOCKOPT[platform.machine()]),
        (ARGUMENTS[1], socket.SOL_SOCKET),
        (ARGUMENTS[2], SO_ZEROCOPY),
    )
    run_options = ("--bind", "127.0.0.1", "--msg-bytes", "1", "--control-fd", "0")
    for options in (["--probe"], run_options):
        outcome = run([plain_build.sender("zero_copy"), *options], preexec_fn=refuse)
        assert outcome.code == 77
        assert "setsockopt(SO_ZEROCOPY)" in outcome.stderr
        assert "not available" in outcome.stderr


@needs_filter
@pytest.mark.parametrize(
    ("program", "part", "error", "words"),
    [
        *(("sender", way, errno.EPERM, "seccomp") for way in URING),
        ("receiver", "uring", errno.ENOSYS, "CONFIG_IO_URING"),
    ],
)
def test_a_seccomp_filter_is_named(
    plain_build: Build, program: Program, part: str, error: int, words: str
) -> None:
    outcome = run([plain_build.program(program, part), "--probe"], preexec_fn=refuse_uring(error))
    assert outcome.code == 77
    assert outcome.stdout == ""
    assert "not available here: io_uring" in outcome.stderr
    assert words in outcome.stderr


@pytest.mark.parametrize("value", [1, 2])
def test_the_setting_that_forbids_it_is_named(
    plain_build: Build, tmp_path: Path, value: int
) -> None:
    """As with kernel.io_uring_disabled, which only this process is made to see."""
    setting = tmp_path / "io_uring_disabled"
    setting.write_text(f"{value}\n")
    name = "/proc/sys/kernel/io_uring_disabled"
    unshare = shutil.which("unshare")
    how = ["--mount"] if os.geteuid() == 0 else ["--mount", "--map-root-user"]
    seen = [unshare, *how, "sh", "-c", f'mount --bind {setting} {name} && exec "$@"', "sh"]
    if not Path(name).exists() or subprocess.run([*seen, "true"], check=False).returncode != 0:
        pytest.skip("no such setting here, or no mount namespaces")
    command = [*seen, plain_build.sender("uring_send"), "--probe"]
    outcome = run(command, preexec_fn=refuse_uring(errno.EPERM))
    assert outcome.code == 77
    assert f"forbidden by kernel.io_uring_disabled = {value}" in outcome.stderr
    assert "sysctl -w kernel.io_uring_disabled=0" in outcome.stderr


@pytest.mark.parametrize("strategy", URING)
def test_a_build_without_liburing_says_so(
    plain_build: Build, tmp_path: Path, strategy: str
) -> None:
    program = sender_variant(
        plain_build,
        strategy,
        tmp_path,
        {"uring/uring.h": ("__has_include(<liburing.h>)", "0")},
        recompiled=[*SOURCES, f"strategies/{strategy}.c"],
    )
    outcome = run([program, "--probe"])
    assert outcome.code == 77
    assert "without liburing" in outcome.stderr
    assert "install liburing-dev" in outcome.stderr
