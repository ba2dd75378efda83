"""The ways to send: every byte arrives, over TCP and UDP, and errors are told alike."""

import itertools
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from c.conftest import ROOT, STRATEGIES, Build
from c.harness import (
    SOON_S,
    Outcome,
    Setting,
    assert_counts_agree,
    assert_failed,
    begin_window,
    counts_of_pair,
    inside_network_of,
    over_udp,
    ready_pair,
    reset,
    results,
    run,
    run_pair,
    sending,
    start_sender,
)
from c.variants import sender_variant

from copycost.build.toolchain import strategies
from copycost.config.strategy_capabilities import capability_of

WAYS = [name for name in strategies(ROOT) if name != "null"]
OVER_TCP = [name for name in WAYS if "stream" in capability_of(name).transports]
OVER_UDP = [name for name in WAYS if "datagram" in capability_of(name).transports]
BATCHING = [name for name in WAYS if capability_of(name).batching]
URING = [name for name in WAYS if name.startswith("uring")]
# With MSG_WAITALL the kernel itself goes on after a short write.
NEVER_SHORT = URING

# Fewer bytes than fields, one field larger than the others, more than one packet, and more than a
# pipe or a send buffer holds; message_check.c goes through all small ones.
SIZES = (1, 9, 65537, 4 << 20)
SIZES_AND_THREADS = list(zip(SIZES, itertools.cycle((4, 1)), strict=False))
# A number shorter than 8 bytes, a note, fragments, the largest.
DATAGRAM_SIZES = (1, 32, 1000, 65507)


def run_stopped_and_continued(
    sender_program: Path, receiver_program: Path, options: Sequence[str] = ()
) -> tuple[Setting, Outcome, Outcome]:
    """Run a pair that is stopped by signals, which cut blocked sends short, and continued."""
    setting = Setting(
        msg_bytes=4 << 20,
        duration_s=0.6,
        verify=True,
        sender_options=["--sndbuf-bytes", "65536", *options],
        receiver_options=["--rcvbuf-bytes", "65536"],
    )
    with ready_pair(sender_program, receiver_program, setting) as (sender, receiver):
        begin_window(setting, sender, receiver)
        stop_at = time.monotonic() + setting.duration_s / 2
        while time.monotonic() < stop_at:
            for process in (receiver.process, sender.process):
                process.send_signal(signal.SIGSTOP)
                time.sleep(0.01)  # time to fill the buffers, then to be stopped
            for process in (sender.process, receiver.process):
                process.send_signal(signal.SIGCONT)
            time.sleep(0.01)
        return setting, sender.finish(), receiver.finish()


@pytest.mark.parametrize(("msg_bytes", "n_threads"), SIZES_AND_THREADS)
@pytest.mark.parametrize("way", OVER_TCP)
def test_every_byte_arrives(address_build: Build, way: str, msg_bytes: int, n_threads: int) -> None:
    setting = Setting(
        msg_bytes=msg_bytes, n_threads=n_threads, warmup_s=0.005, duration_s=0.03, verify=True
    )
    counts_of_pair(*address_build.pair(way), setting)


@pytest.mark.parametrize("msg_bytes", [1, 1 << 20])
@pytest.mark.parametrize("way", sorted(set(OVER_TCP) & set(BATCHING)))
def test_every_byte_of_a_batch_arrives(address_build: Build, way: str, msg_bytes: int) -> None:
    setting = Setting(
        msg_bytes=msg_bytes,
        n_threads=2,
        duration_s=0.03,
        verify=True,
        sender_options=["--batch", "5"],
    )
    total, _ = counts_of_pair(*address_build.pair(way), setting)
    # Whatever a call had to be repeated for: there are fewer of them than messages.
    assert total["messages"] % 5 == 0
    assert total["send_calls"] < total["messages"]


def test_null_sends_nothing_and_counts_messages(address_build: Build) -> None:
    setting = Setting(n_threads=2)
    sent, received = results(address_build.sender("null"), address_build.receiver, setting)
    assert sent["in_window"]["messages"] > 0
    assert sent["total"]["bytes"] == received["total"]["bytes"] == 0
    assert sent["in_window"]["send_calls"] == 0


def test_works_over_ipv6(address_build: Build) -> None:
    if not Path("/proc/net/if_inet6").exists():
        pytest.skip("no IPv6 in this kernel")
    counts_of_pair(*address_build.pair("one_copy"), Setting(address="::1", verify=True))


@pytest.mark.parametrize("msg_bytes", DATAGRAM_SIZES)
@pytest.mark.parametrize("way", OVER_UDP)
def test_every_datagram_is_right(address_build: Build, way: str, msg_bytes: int) -> None:
    setting = over_udp(Setting(msg_bytes=msg_bytes, n_threads=2, duration_s=0.03, verify=True))
    counts_of_pair(*address_build.pair(way), setting)


@pytest.mark.parametrize("msg_bytes", [1, 9357])
@pytest.mark.parametrize("way", BATCHING)
def test_a_batch_of_datagrams_is_as_many_datagrams(
    address_build: Build, way: str, msg_bytes: int
) -> None:
    options = ["--batch", "7"]  # 7 x 9357 bytes fit one packet
    setting = over_udp(
        Setting(msg_bytes=msg_bytes, duration_s=0.03, verify=True, sender_options=options)
    )
    total, _ = counts_of_pair(*address_build.pair(way), setting)
    assert total["send_calls"] < total["messages"] / 2


THREADS = Setting(msg_bytes=9000, n_threads=4, duration_s=0.05, verify=True)
ASKS = ("--mode", "request_response", "--nodelay", "on")
RACES = {
    "stream": THREADS,
    "ring": replace(THREADS, sender_options=["--ring-bytes", str(1 << 20)]),
    "fresh ring": replace(
        THREADS, verify=False, sender_options=["--ring-bytes", str(1 << 20), "--fresh"]
    ),
    "datagram": over_udp(THREADS),
    "answered": replace(THREADS, sender_options=ASKS, receiver_options=ASKS),
}


@pytest.mark.parametrize(
    ("way", "kind"),
    [
        *((way, "stream") for way in OVER_TCP),
        *itertools.product(STRATEGIES, [kind for kind in RACES if kind != "stream"]),
    ],
)
def test_threads_do_not_race(thread_build: Build, way: str, kind: str) -> None:
    counts_of_pair(*thread_build.pair(way), RACES[kind])


@pytest.mark.parametrize("way", OVER_TCP)
def test_short_writes_lose_no_byte(address_build: Build, way: str) -> None:
    options = ["--batch", "3"] if capability_of(way).batching else []
    setting, *outcomes = run_stopped_and_continued(*address_build.pair(way), options)
    sent, _ = assert_counts_agree(*outcomes, setting)
    assert (sent["short_writes"] > 0) == (way not in NEVER_SHORT)


def read_for_a_while(program: Path, options: list[str], n_bytes: int) -> bytes:
    """Play the receiver and return the first bytes that a sender sends."""
    setting = Setting(msg_bytes=5000, sender_options=options)
    with sending(program, setting) as (_, peer), peer.makefile("rb") as stream:
        return stream.read(n_bytes)


@pytest.mark.parametrize("ring_bytes", [0, 1 << 20])
@pytest.mark.parametrize("way", OVER_TCP)
def test_kept_messages_are_sent_as_they_are_and_fresh_ones_as_rewritten(
    address_build: Build, way: str, ring_bytes: int
) -> None:
    program = address_build.usable("sender", way)
    ring = ["--ring-bytes", str(ring_bytes)]
    assert set(read_for_a_while(program, ring, 300 * 5000)) == {0x5A}
    fresh = read_for_a_while(program, [*ring, "--fresh"], 300 * 5000)
    assert fresh == b"".join(bytes([i % 256]) * 5000 for i in range(300))


@pytest.mark.parametrize("way", OVER_TCP)
def test_a_reset_by_the_peer_fails_the_sender(address_build: Build, way: str) -> None:
    setting = Setting(duration_s=30)
    with sending(address_build.usable("sender", way), setting) as (sender, peer):
        peer.recv(4096)
        reset(peer)
        assert_failed(sender.finish(), way)


# 256 messages of 64 KiB are more than all buffers hold: it stops in the middle of the first batch.
ONE_BY_ONE_AND_IN_BATCHES = [(way, 1) for way in OVER_TCP] + [
    (way, 256) for way in OVER_TCP if way in BATCHING
]


@pytest.mark.parametrize(("way", "batch"), ONE_BY_ONE_AND_IN_BATCHES)
def test_a_peer_that_stops_reading_ends_in_a_timeout(
    address_build: Build, way: str, batch: int
) -> None:
    options = ["--batch", str(batch)]
    setting = Setting(duration_s=30, io_timeout_ms=300, sender_options=options)
    with sending(address_build.usable("sender", way), setting) as (sender, _):
        began = time.monotonic()
        assert_failed(sender.finish(), way, "timed out")
        assert time.monotonic() - began < SOON_S


@pytest.mark.parametrize(
    ("way", "file", "careful", "careless"),
    [
        (
            "zero_copy",
            "strategies/zero_copy.c",
            "slot_message(stream, state->slot)",
            "slot_message(stream, 0)",
        ),
        ("splice_gift", "splice/pages.c", "MADV_DONTNEED) != 0", "MADV_NORMAL) != 0"),
        ("sendfile", "strategies/sendfile.c", "ftruncate(state->file_fd, 0) != 0", "false"),
        (
            "uring_zero_copy",
            "uring/zc.c",
            "slot_message(stream, outgoing->slot)",
            "slot_message(stream, 0)",
        ),
    ],
)
def test_pages_reused_too_early_are_seen(
    tmp_path: Path, plain_build: Build, way: str, file: str, careful: str, careless: str
) -> None:
    """Proves that --verify can fail, and that the care these ways take is needed."""
    plain_build.usable("sender", way)  # skips where there is none
    program = sender_variant(plain_build, way, tmp_path, {file: (careful, careless)})
    # A small window keeps the bytes waiting in the sender's queue.
    setting = Setting(verify=True, duration_s=0.2, receiver_options=["--rcvbuf-bytes", "16384"])
    _, receiver = run_pair(program, plain_build.receiver, setting)
    assert receiver.code == 1
    assert "bytes differ from the pattern" in receiver.stderr


@pytest.mark.parametrize(("msg_bytes", "batch", "code"), [(1000, 65, 1), (4095, 17, 2)])
def test_segments_that_fit_no_packet_are_refused(
    address_build: Build, msg_bytes: int, batch: int, code: int
) -> None:
    """Too many segments the strategy refuses; bytes that fit no datagram are a wrong call."""
    options = ["--batch", str(batch), "--transport", "datagram", "--sink"]
    setting = Setting(
        address=None,
        msg_bytes=msg_bytes,
        sender_options=[*options, "--connect", "127.0.0.1", "--port", "9"],
    )
    with start_sender(address_build.usable("sender", "udp_gso"), setting) as sender:
        outcome = sender.finish()
    assert outcome.code == code
    assert f"a batch of {batch} messages of {msg_bytes} bytes" in outcome.stderr


NAMESPACE = ("unshare", "--net", "sh", "-c", 'ip link set lo up mtu 1500 && exec "$@"', "sh")


@pytest.mark.needs_root
@pytest.mark.parametrize("batch", [1, 2])
def test_segments_must_fit_the_mtu_and_a_lone_message_need_not(
    address_build: Build, batch: int
) -> None:
    options = ["--batch", str(batch)]
    setting = over_udp(
        Setting(msg_bytes=5000, duration_s=0.03, verify=True, sender_options=options)
    )
    programs = address_build.pair("udp_gso")
    with ready_pair(*programs, setting, inside_network_of, wrapper=NAMESPACE) as (sender, receiver):
        begin_window(setting, sender, receiver)
        outcome = sender.finish()
        if batch == 1:
            assert_counts_agree(outcome, receiver.finish(), setting)
            return
    assert outcome.code == 77
    assert "must fit the device's MTU" in outcome.stderr


def count_system_calls(file: Path) -> int:
    """Return the count of a `perf stat -x,` file with one event."""
    lines = [line for line in file.read_text().splitlines() if line and line[0] != "#"]
    return int(lines[0].split(",")[0])


@pytest.mark.needs_perf
@pytest.mark.parametrize("way", OVER_TCP)
def test_own_counts_of_system_calls_agree_with_the_tracepoint(
    plain_build: Build, way: str, tmp_path: Path
) -> None:
    file = tmp_path / "perf"
    wrapper = ["perf", "stat", "-x,", "-o", str(file), "-e", "raw_syscalls:sys_enter", "--"]
    probe = run([*wrapper, "true"])
    if probe.code != 0:
        pytest.skip(f"no raw_syscalls:sys_enter here: {probe.stderr.strip().splitlines()[-1]}")
    setting = Setting(msg_bytes=4096, n_threads=2, duration_s=0.3)
    sent, _ = results(*plain_build.pair(way), setting, wrapper=wrapper)
    keys = ("send_calls", "poll_calls", "errqueue_calls", "other_calls")
    own = sum(sent["total"][key] for key in keys)
    # Start, connections, memory, threads, the main thread's waits and snapshots.
    constant = count_system_calls(file) - own
    assert 50 < constant < 1500 < own
