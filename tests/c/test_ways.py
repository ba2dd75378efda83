"""The ways to send: every byte arrives, over TCP and UDP, and errors are told alike."""

import itertools
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
from c.conftest import ROOT, STRATEGIES, Build
from c.harness import (
    SOON_S,
    Setting,
    agreed,
    assert_failed,
    begin_window,
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

# Sizes, threads and the ring that these walk together [bytes]. Over TCP: fewer bytes than fields,
# one field larger than the others, more than one packet, more than a pipe or a send buffer holds;
# ring_check.c goes through all small sizes. Over UDP: a number shorter than 8 bytes, a note,
# what in batches just fits one packet, the largest. The first and the third are sent in batches.
STREAMS = ((1, 4, 0), (9, 1, 1 << 20), (65537, 4, 1 << 20), (4 << 20, 1, 0))
DATAGRAMS = ((1, 2, 0), (32, 2, 1 << 20), (9357, 2, 0), (65507, 1, 1 << 20))
BATCH = 7


@pytest.mark.parametrize("nth", range(4))
@pytest.mark.parametrize(
    ("way", "over"),
    [*((way, "stream") for way in OVER_TCP), *((way, "datagram") for way in OVER_UDP)],
)
def test_every_byte_arrives(address_build: Build, way: str, over: str, nth: int) -> None:
    msg_bytes, n_threads, ring_bytes = (STREAMS if over == "stream" else DATAGRAMS)[nth]
    batch = BATCH if way in BATCHING and nth % 2 == 0 else 1
    setting = Setting(
        msg_bytes=msg_bytes,
        n_threads=n_threads,
        warmup_s=0.005,
        duration_s=0.03,
        verify=True,
        sender_options=["--ring-bytes", str(ring_bytes), "--batch", str(batch)],
    )
    setting = setting if over == "stream" else over_udp(setting)
    sent, _ = results(*address_build.pair(way), setting)
    total = sent["total"]
    assert total["messages"] % batch == 0
    if batch > 1:  # over TCP, where sends may be short, at least fewer calls than messages
        assert total["send_calls"] < total["messages"] / (1 if over == "stream" else 2)


def test_null_sends_nothing_and_counts_messages(address_build: Build) -> None:
    sent, _ = results(*address_build.pair("null"), Setting(n_threads=2))
    assert sent["in_window"]["messages"] > 0
    assert sent["total"]["bytes"] == sent["total"]["send_calls"] == 0


def test_works_over_ipv6(address_build: Build) -> None:
    if not Path("/proc/net/if_inet6").exists():
        pytest.skip("no IPv6 in this kernel")
    results(*address_build.pair("one_copy"), Setting(address="::1", verify=True))


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
    results(*thread_build.pair(way), RACES[kind])


@pytest.mark.parametrize("way", OVER_TCP)
def test_short_writes_lose_no_byte(address_build: Build, way: str) -> None:
    """Both sides are stopped by signals, which cut blocked sends short, and continued."""
    batch = "3" if way in BATCHING else "1"
    setting = Setting(
        msg_bytes=4 << 20,
        duration_s=0.6,
        verify=True,
        sender_options=["--sndbuf-bytes", "65536", "--batch", batch],
        receiver_options=["--rcvbuf-bytes", "65536"],
    )
    with ready_pair(*address_build.pair(way), setting) as (sender, receiver):
        begin_window(setting, sender, receiver)
        stop_at = time.monotonic() + setting.duration_s / 2
        while time.monotonic() < stop_at:
            for process in (receiver.process, sender.process):
                process.send_signal(signal.SIGSTOP)
                time.sleep(0.01)  # time to fill the buffers, then to be stopped
            for process in (sender.process, receiver.process):
                process.send_signal(signal.SIGCONT)
            time.sleep(0.01)
        sent, _ = agreed(sender.finish(), receiver.finish(), setting)
    assert (sent["total"]["short_writes"] > 0) == (way not in NEVER_SHORT)


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
            agreed(outcome, receiver.finish(), setting)
            return
    assert outcome.code == 77
    assert "must fit the device's MTU" in outcome.stderr


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
    counted = next(line for line in file.read_text().splitlines() if line and line[0] != "#")
    # Start, connections, memory, threads, the main thread's waits and snapshots.
    constant = int(counted.split(",")[0]) - own
    assert 50 < constant < 1500 < own
