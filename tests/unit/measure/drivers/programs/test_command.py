"""Which options the programs get, how large the ring of messages is, and whether it has room."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from setups import CELL, HOST, setup

from copycost.errors import AttemptFailed, Unavailable
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.facts.kernel import available_memory_bytes, require_memory
from copycost.hosts.placement import Placement
from copycost.hosts.side import SideName
from copycost.measure.drivers.programs.command import (
    check_memory,
    check_ring,
    ring_bytes,
    side_options,
)
from copycost.measure.drivers.protocol import Setup

MIB = 1 << 20
TIB = 1 << 40


def words(of: Setup, side: SideName = "sender", ring_bytes: int = 0) -> str:
    return " ".join(side_options(of, side, ring_bytes, 10.0))


def test_a_plain_stream_gets_no_option_that_it_does_not_need() -> None:
    plain = setup(receive_buffer_bytes=1 << 20)
    assert words(plain) == (
        "--bind 198.18.0.1 --threads 2 --msg-bytes 65536 --cpus 0,1"
        " --sndbuf-bytes 0 --rcvbuf-bytes 1048576 --congestion cubic,reno --nodelay kernel"
        " --io-timeout-ms 10000"
    )
    receiver = words(plain, "receiver")
    assert receiver.startswith("--connect 198.18.0.1 --threads 2")
    assert "--cpus 1,0" in receiver
    free = replace(plain, placement=Placement((0, 1), (0, 1), pinned=False))
    assert "--cpus" not in words(free) + words(free, "receiver")


@pytest.mark.parametrize(
    ("changed", "ring_bytes", "option"),
    [
        (setup(), 4096, " --ring-bytes 4096"),
        (setup(replace(CELL, implementation="sendmmsg_x16")), 0, " --batch 16"),
        (setup(fresh=True), 0, " --fresh"),
    ],
)
def test_what_is_asked_of_the_messages_goes_to_the_sender_alone(
    changed: Setup, ring_bytes: int, option: str
) -> None:
    assert option in words(changed, ring_bytes=ring_bytes)
    assert option not in words(changed, "receiver", ring_bytes)


def test_both_sides_of_round_trips_know_and_send_without_delay() -> None:
    asks = setup(mode="request_response", interval_ns=50_000)
    assert "--interval-ns 50000" in words(asks)
    assert "--interval-ns" not in words(asks, "receiver")
    for side in ("sender", "receiver"):
        assert "--mode request_response" in words(asks, side)
        assert "--nodelay on" in words(asks, side)
    assert "--nodelay off" in words(setup(mode="request_response", tcp_nodelay="off"))


def host(llc_bytes: int | None) -> dict[str, Any]:
    return {"cpu": {"caches": {"llc_bytes": llc_bytes}}}


@pytest.mark.parametrize(
    ("llc_bytes", "n_threads", "n_at_once", "expected"),
    [
        (32 * MIB, 1, 1, 128 * MIB),
        (None, 1, 1, 256 * MIB),
        # threads that run at once fill a cache together, and others do not
        (32 * MIB, 2, 2, 128 * MIB),  # both run all the time
        (32 * MIB, 64, 2, 4096 * MIB),  # one that runs goes round its share as long as it does
        (32 * MIB, 8, 1, 1024 * MIB),  # each has a cache of its own
    ],
)
def test_a_working_set_is_so_many_bytes(
    llc_bytes: int | None, n_threads: int, n_at_once: int, expected: int
) -> None:
    assert ring_bytes("cold", host(llc_bytes), n_threads, n_at_once) == expected
    assert ring_bytes("hot", host(32 * MIB), n_threads, n_at_once) == 0
    assert ring_bytes("16777216", host(32 * MIB), n_threads, n_at_once) == 16 * MIB


def test_messages_that_must_exist_at_once_may_be_no_such_working_set() -> None:
    # 256 messages in flight for each of 8 threads
    with pytest.raises(Unavailable, match=r"zero_copy had to have 32\.5 MiB of messages") as caught:
        check_ring(str(256 << 10), 8 * 4_261_888, "zero_copy")
    assert "no working set of 256.0 KiB" in caught.value.reason
    assert "larger working set" in caught.value.remedy


@pytest.mark.parametrize("working_set", ["hot", "cold", "16777216"])
def test_a_ring_of_about_the_size_that_names_it_is_let_pass(working_set: str) -> None:
    check_ring(working_set, 17 * MIB, "zero_copy")
    check_ring(working_set, 15 * MIB, "zero_copy")
    check_memory(HOST, MIB, 65536, 4, "sendfile")


@pytest.mark.parametrize(
    ("strategy", "ring_bytes", "msg_bytes", "n_threads", "need", "remedy"),
    [
        # fields of half a page lie close together
        ("two_copy", 16 * TIB, 16 << 10, 1, "a ring of 16.0 TiB need 16.0", "smaller working set"),
        # those of a page take a second one
        ("two_copy", 16 * TIB, 32 << 10, 1, "a ring of 16.0 TiB need 32.0", "smaller working set"),
        # and of large ones that is little
        ("two_copy", 16 * TIB, 64 << 20, 1, "a ring of 16.0 TiB need 16.0", "smaller working set"),
        ("sendfile", 16 * TIB, 16 << 10, 1, "a ring of 16.0 TiB need 32.0", "smaller working set"),
        ("one_copy", 0, 64 * MIB, 1 << 20, "64 MiB that 1048576 threads hold need 256.", "fewer"),
    ],
)
def test_messages_that_do_not_fit_are_told_with_need_have_and_remedy(
    strategy: str, ring_bytes: int, msg_bytes: int, n_threads: int, need: str, remedy: str
) -> None:
    if os.sysconf("SC_PAGE_SIZE") != 4096:
        pytest.skip("the sizes are those of pages of 4 KiB")
    with pytest.raises(AttemptFailed) as caught:
        check_memory(HOST, ring_bytes, msg_bytes, n_threads, strategy)
    assert f"the messages of {need}" in caught.value.reason
    assert "are available, of which a tenth is to stay free" in caught.value.reason
    assert remedy in caught.value.remedy


def write_group(folder: Path, limit: str, used: int, cached: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 1\ninactive_file {cached}\nslab 2\n")


@pytest.mark.parametrize(
    ("own", "available"),
    [
        ("0::/outer/inner/own\n", 150),  # 1000 - 900 + 50 further out, 500 in its own
        ("0::/outer2/own\n", 500),
        ("0::/elsewhere\n", 4096),
        # a process may be in a group that is out of sight here, and old kernels have other lines
        ("0::/../outside\n5:memory:/outer\n", 4096),
    ],
)
def test_every_limited_group_above_a_process_counts(
    tmp_path: Path, own: str, available: int
) -> None:
    groups = tmp_path / "sys" / "fs" / "cgroup"
    write_group(groups / "outer", "1000", used=900, cached=50)
    write_group(groups / "outer" / "inner", "max", used=10, cached=0)
    write_group(groups / "outer" / "inner" / "own", "700", used=300, cached=100)
    write_group(groups / "outer2" / "own", "700", used=300, cached=100)
    (groups / "elsewhere").mkdir()
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "self" / "cgroup").write_text(own)
    (tmp_path / "proc" / "meminfo").write_text("MemTotal: 8 kB\nMemAvailable: 4 kB\n")
    assert available_memory_bytes(HostFiles(tmp_path)) == available


def test_memory_that_nobody_tells_of_keeps_nobody_from_measuring(tmp_path: Path) -> None:
    require_memory(HostFiles(tmp_path), 1 << 60, "the messages", "take fewer")
