"""Cells in copies of a guest that was booted and saved."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import guests
import pytest
from c.conftest import Build
from c.harness import Outcome, Setting, begin_window, ready_pair

from copycost.build.toolchain import compile_program
from copycost.config.simulated import Geometry
from copycost.config.simulation_variants import PLAIN, VARIANTS
from copycost.errors import HostError
from copycost.measure.simulated.cell import Caches, Simulated, cell_text, simulate
from copycost.measure.simulated.guest import save_guest, simulated_image
from copycost.observers.kernel_counters import snmp_counts

pytestmark = [pytest.mark.needs_guests, pytest.mark.slow]
ROOT = Path(__file__).parents[2]
LEVELS = {
    "l1d": Geometry(32 << 10, 8), "l2": Geometry(1 << 20, 16), "llc": Geometry(16 << 20, 16),
}  # fmt: skip
CACHES = Caches(LEVELS)
MESSAGES, WARMUP_MESSAGES = 64, 48
SIZES = {"loopback": 64 << 10, "sink": 60 << 10}
# in what QEMU 7.2 saves (vmstate_timers of softmmu/cpu-timers.c): version, and what the guest's
# clock has leapt [ns]
CLOCK = re.compile(rb"\x0ctimer/icount.{4}(.{8})", re.DOTALL)

Run = Callable[..., Simulated]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = Build(tmp_path_factory.mktemp("bin"), None)
    for name in ("two_copy", "one_copy", "zero_copy"):
        build.sender(name)
    assert build.receiver.name == "receiver_recv"
    for program in ("simulated_cell", "simulated_plugin"):
        compile_program(program, None, build.folder / program, root=ROOT)
    return build.folder


def boot(programs: Path, folder: Path) -> Path:
    kernel = guests.kernel()
    initrd = folder / "initrd"
    needed = [programs / "sender_two_copy", programs / "receiver_recv"]
    simulated_image(kernel, programs / "simulated_cell", needed).write(initrd)
    save_guest(VARIANTS[PLAIN], kernel, kernel.image, initrd, folder)
    return folder


@pytest.fixture(scope="module")
def saved(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return boot(programs, tmp_path_factory.mktemp("guest"))


@pytest.fixture(scope="module")
def run(programs: Path, saved: Path) -> Run:
    @cache  # of equal cells counts are equal, which the test of two boots shows
    def run_cell(
        implementation: str,
        testbed: str,
        *,
        guest: Path = saved,
        messages: int = MESSAGES,
        msg_bytes: int | None = None,
        timeout_s: float = 120,
    ) -> Simulated:
        text = cell_text(testbed, msg_bytes or SIZES[testbed], messages, WARMUP_MESSAGES)
        sides = {"sender": programs / f"sender_{implementation}"}
        if testbed == "loopback":
            sides["receiver"] = programs / "receiver_recv"
        return simulate(text, sides, guest, programs / "simulated_plugin", CACHES, timeout_s)

    return run_cell


def total(found: Simulated, side: str, kernel: bool, count: Callable[[dict[str, Any]], int]) -> int:
    functions = found.counted["functions"][side]
    return sum(count(function) for function in functions if function["kernel"] == kernel)


def l1d_misses(function: dict[str, Any]) -> int:
    return int(function["load_misses"]["l1d"] + function["store_misses"]["l1d"])


def calls_of(found: Simulated, side: str, name: str) -> int:
    named = [f for f in found.counted["functions"][side] if f["name"] == name]
    return sum(function["calls"] for function in named)


def test_a_copy_costs_two_misses_per_line_of_the_first_level(run: Run) -> None:
    n_lines = MESSAGES * SIZES["loopback"] / 64
    two, one = run("two_copy", "loopback"), run("one_copy", "loopback")
    assert total(two, "sender", False, l1d_misses) / n_lines == pytest.approx(2.02, abs=0.03)
    assert total(one, "sender", False, l1d_misses) / n_lines < 0.03
    for found in (two, one):
        assert total(found, "receiver", True, l1d_misses) / n_lines == pytest.approx(2.2, abs=0.2)


def test_zero_copy_to_the_sink_copies_nothing(run: Run) -> None:
    found = run("zero_copy", "sink")
    assert found.sender["zero_copy"]["copied"] == 0
    assert found.sender["zero_copy"]["sent_in_window"] == MESSAGES
    assert total(found, "sender", True, lambda f: f["string_iterations"]) < MESSAGES * 1000
    assert found.receiver is None
    assert found.counted["functions"]["receiver"] == []


def test_what_is_counted_agrees_with_what_the_programs_count(run: Run) -> None:
    found = run("two_copy", "loopback")
    assert found.receiver is not None
    assert found.sender["in_window"]["messages"] == MESSAGES
    assert calls_of(found, "sender", "__x64_sys_sendto") == MESSAGES
    # one call may begin before the window and end in it, or the other way round
    calls = calls_of(found, "receiver", "__x64_sys_recvfrom")
    assert abs(calls - found.receiver["in_window"]["recv_calls"]) <= 1
    copied = total(found, "receiver", True, lambda f: f["string_iterations"])
    assert copied == pytest.approx(found.receiver["in_window"]["bytes"] / 8, rel=0.02)


@pytest.fixture
def quiet_loopback() -> Iterator[int]:
    """Yield the process id of a network namespace in which nobody else sends."""
    words = ["unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec cat"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"up\n"
        yield holder.pid
        holder.communicate()


def run_inside(namespace: int, programs: Path, setting: Setting) -> tuple[Outcome, Outcome]:
    """Run `two_copy` in a network namespace and return the outcomes of sender and receiver."""
    inside = ("nsenter", f"--net=/proc/{namespace}/ns/net")
    pair = programs / "sender_two_copy", programs / "receiver_recv"
    with ready_pair(*pair, setting, lambda _: inside, wrapper=inside) as (sender, receiver):
        begin_window(setting, sender, receiver)
        return sender.finish(), receiver.finish()


def segments_sent(namespace: int) -> int:
    """Return how many segments with data were sent, as the kernel counts them."""
    text = Path(f"/proc/{namespace}/net/netstat").read_text(encoding="utf-8")
    return snmp_counts(text, "TcpExt")["TcpExt.TCPOrigDataSent"]


@pytest.mark.needs_root
def test_sends_bytes_and_segments_are_those_of_a_run_on_this_host(
    run: Run, programs: Path, quiet_loopback: int
) -> None:
    size = 48 << 10
    simulated = run("two_copy", "loopback", msg_bytes=size)
    counted = ("--warmup-messages", str(WARMUP_MESSAGES), "--counted-messages", str(MESSAGES))
    setting = Setting(msg_bytes=size, warmup_s=0.5, duration_s=0.7, sender_options=counted)
    sender, receiver = run_inside(quiet_loopback, programs, setting)
    assert (sender.code, receiver.code) == (0, 0), sender.stderr + receiver.stderr
    for count in ("messages", "bytes", "send_calls"):
        assert simulated.sender["in_window"][count] == sender.result["in_window"][count]
        assert simulated.sender["total"][count] == sender.result["total"][count]
    # a message is a segment; what has to wait may share one with what waits before it, or begin one
    sides = ("sender", "receiver", "other")
    segments = sum(calls_of(simulated, side, "tcp_event_new_data_sent") for side in sides)
    largest = 65_483  # what fits into the MTU of lo, 65,536 bytes
    assert MESSAGES * size // largest < segments < 1.1 * MESSAGES
    messages = WARMUP_MESSAGES + MESSAGES
    assert messages * size // largest < segments_sent(quiet_loopback) < 1.1 * messages


@contextmanager
def loaded_machine() -> Iterator[None]:
    """Keep every processor busy with somebody else."""
    spinning = [sys.executable, "-c", "while True: pass"]
    spinners = [subprocess.Popen(spinning) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def test_cells_of_another_boot_are_the_same_to_the_last_bit_on_a_loaded_machine_too(
    run: Run, programs: Path, tmp_path: Path
) -> None:
    first = {testbed: run("zero_copy", testbed) for testbed in SIZES}
    again = boot(programs, tmp_path)
    with loaded_machine():
        assert {testbed: run("zero_copy", testbed, guest=again) for testbed in SIZES} == first


def test_a_clock_that_leapt_as_the_machine_was_stopped_changes_no_count(
    run: Run, saved: Path, tmp_path: Path
) -> None:
    state = (saved / "state").read_bytes()
    found = CLOCK.search(state)
    assert found is not None
    leap_ns = int.from_bytes(found[1], "big", signed=True)
    # less by more than the way to the stop takes, and by less than the timer waits behind it
    other_ns = (leap_ns - 500_000 if leap_ns else 500_000).to_bytes(8, "big", signed=True)
    for name in ("memory", "symbols", "guest.json"):
        (tmp_path / name).symlink_to(saved / name)
    (tmp_path / "state").write_bytes(state[: found.start(1)] + other_ns + state[found.end(1) :])
    assert run("two_copy", "loopback", guest=tmp_path) == run("two_copy", "loopback")


def test_a_cell_that_does_not_end_is_ended(run: Run) -> None:
    with pytest.raises(HostError, match="took too long"):
        run("two_copy", "loopback", messages=1_000_000, timeout_s=3)


def test_a_failing_program_is_told_by_its_own_sentence(run: Run) -> None:
    with pytest.raises(HostError, match="a datagram holds 65507 bytes at most"):
        run("two_copy", "sink", msg_bytes=70_000)


def test_a_guest_that_cannot_boot_is_told_with_its_last_words(tmp_path: Path) -> None:
    kernel = guests.kernel()
    nothing = tmp_path / "initrd"
    nothing.write_bytes(b"")
    with pytest.raises(HostError, match=r"QEMU ended with .*Kernel panic"):
        save_guest(VARIANTS[PLAIN], kernel, kernel.image, nothing, tmp_path)
