"""The ways to receive: every byte is counted, seen where it can be seen, and silence ends."""

import time
from pathlib import Path

import pytest
from c.conftest import ROOT, Build
from c.harness import (
    SOON_S,
    Setting,
    assert_failed,
    over_udp,
    receiving,
    reset,
    results,
    start_receiver,
)

from copycost.build.toolchain import receivers

ALL = receivers(ROOT)
# All but the receiver of every other test; those that can compare the bytes with the pattern.
RECEIVERS = [name for name in ALL if name != "recv"]
SEEING = [
    name
    for name in RECEIVERS
    if ".verifies = true" in (ROOT / "src/receivers" / f"{name}.c").read_text()
]
SIZES = (1, 65537, 4 << 20)
# What mmap can map depends on where a packet's pages come from.
SENDERS = {"mmap": ["two_copy", "zero_copy", "splice"]}
PAIRS = [(name, strategy) for name in RECEIVERS for strategy in SENDERS.get(name, ["two_copy"])]


@pytest.mark.parametrize("msg_bytes", SIZES)
@pytest.mark.parametrize(("name", "strategy"), PAIRS)
def test_every_byte_arrives(address_build: Build, name: str, msg_bytes: int, strategy: str) -> None:
    setting = Setting(
        msg_bytes=msg_bytes, n_threads=2, warmup_s=0.005, duration_s=0.03, verify=name in SEEING
    )
    program = address_build.usable("receiver", name)
    _, received = results(address_build.sender(strategy), program, setting)
    assert received["receiver"] == name


@pytest.mark.parametrize("name", RECEIVERS)
def test_threads_do_not_race(thread_build: Build, name: str) -> None:
    setting = Setting(n_threads=4, duration_s=0.05, verify=name in SEEING)
    results(thread_build.sender("one_copy"), thread_build.usable("receiver", name), setting)


def test_pages_into_which_the_kernel_copied_a_zero_copy_send_are_mapped(
    address_build: Build,
) -> None:
    """What a copying sender fills are parts of larger pages; see the header of mmap.c."""
    program = address_build.usable("receiver", "mmap")
    setting = Setting(duration_s=0.05)
    for strategy, maps in (("zero_copy", True), ("one_copy", False)):
        _, received = results(address_build.sender(strategy), program, setting)
        whole_pages = Path("/proc/sys/net/core/high_order_alloc_disable").read_text() == "1\n"
        assert (received["total"]["mapped_bytes"] > 0) == (maps or whole_pages)


def test_datagrams_are_discarded_and_counted(address_build: Build) -> None:
    setting = over_udp(Setting(msg_bytes=9000))
    program = address_build.usable("receiver", "trunc")
    results(address_build.sender("one_copy"), program, setting)


@pytest.mark.parametrize("name", ALL)
def test_a_silent_sender_ends_in_a_timeout(address_build: Build, name: str) -> None:
    setting = Setting(io_timeout_ms=300, duration_s=30)
    with receiving(address_build.usable("receiver", name), setting) as (receiver, _):
        assert_failed(receiver.finish(), "timed out")


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("goodbye", "before the end of the window"),
        ("reset", "reset by peer"),
        ("orchestrator", "orchestrator is gone"),
    ],
)
@pytest.mark.parametrize("name", ALL)
def test_an_end_before_its_time_is_told_at_once(
    address_build: Build, name: str, end: str, words: str
) -> None:
    program, setting = address_build.usable("receiver", name), Setting(duration_s=30)
    with receiving(program, setting) as (receiver, peer):
        peer.sendall(bytes(100_000))
        time.sleep(0.1)  # all of it has been read, and the receiver waits for more
        began = time.monotonic()
        if end == "orchestrator":
            receiver.control.close()
        elif end == "reset":
            reset(peer)
        else:
            peer.close()
        assert_failed(receiver.finish(), words)
        assert time.monotonic() - began < SOON_S


def test_what_is_discarded_cannot_be_verified(address_build: Build) -> None:
    setting = Setting(verify=True)
    program = address_build.program("receiver", "trunc")
    with start_receiver(program, setting, port=1) as receiver:
        outcome = receiver.finish()
    assert outcome.code == 2
    assert "trunc does not see the bytes" in outcome.stderr
