"""What the testbed sink, large working sets and io_uring need, and what is said without it."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from measured.failures_support import NOBODY, Bench, may_have, need_tools, new_bench

SINK = ("--testbed", "sink", "--msg-bytes", "16KiB")
# a file system of its own, in which the folder with nft is replaced by one without it
WITHOUT_NFT = """
set -e
folder=$(dirname "$(PATH=$PATH:/usr/sbin:/sbin command -v nft)")
mkdir -p "$0/all" "$0/some"
mount --bind "$folder" "$0/all"
ln -sf "$0"/all/* "$0/some"
rm "$0/some/nft"
mount --bind "$0/some" "$folder"
exec "$@"
"""
MOMENTS = {"warm-up": ("--warmup", "600"), "window": ("--duration", "600")}


@pytest.fixture
def bench() -> Iterator[Bench]:
    with new_bench() as bench:
        bench.write_host(None)
        yield bench


@pytest.fixture
def sink() -> tuple[str, ...]:
    if not may_have("sink"):
        pytest.skip("this user cannot have the testbed sink")
    return SINK


def wrapper(name: str) -> tuple[str, ...]:
    """Return words that put something in the way of the command that follows."""
    return (sys.executable, str(Path(__file__).with_name("failures_wrappers.py")), name)


# --- nftables


def test_missing_nftables_is_skipped_with_the_remedy(
    bench: Bench, sink: tuple[str, ...], tmp_path: Path
) -> None:
    need_tools("unshare", "mount")
    own_files = ("unshare", "--user", "--map-root-user", "--mount")
    without = (*own_files, "sh", "-c", WITHOUT_NFT, str(tmp_path))
    if subprocess.run([*without, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not make file systems of his own")
    assert bench.measure(*sink, before=without).code == 77
    record = bench.record()
    assert record["status"] == "skipped"
    assert record["reason"] == "the command nft was not found"
    assert record["remedy"] == "install the package nftables"


@pytest.mark.parametrize("user", [(), NOBODY], ids=["as we are", "in a user namespace"])
def test_refused_nftables_are_skipped_with_the_remedy(
    bench: Bench, sink: tuple[str, ...], user: tuple[str, ...]
) -> None:
    if user and os.geteuid() != 0:
        pytest.skip("only root can become another user")
    assert bench.measure(*sink, before=(*wrapper("forbid_nftables"), *user)).code == 77
    record = bench.record()
    assert record["status"] == "skipped"
    assert re.match(r"nft -f - failed with exit status \d: .*not permitted", record["reason"])
    assert "CONFIG_NF_TABLES_NETDEV" in record["remedy"]
    assert record["driver"] is None


# --- what happens on the way


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_sender_killed_while_it_sends_to_a_sink_is_a_failed_record(
    bench: Bench, sink: tuple[str, ...], moment: str
) -> None:
    bench.write_host(shutil.which("perf"))
    with bench.started(*sink, *MOMENTS[moment]) as running:
        running.wait_for(f"{moment} begins")
        os.kill(running.child("sender_two_copy"), signal.SIGKILL)
        ended = running.end()
        running.assert_nothing_left()
    assert ended.code == 1
    record = bench.record()
    assert re.fullmatch(
        f"the sender (was killed by SIGKILL|died without a word) during the {moment}",
        record["reason"],
    )
    assert record["driver"] is None
    assert bench.left_over() == []


def test_a_killed_measurement_leaves_neither_a_sink_nor_its_sender(
    bench: Bench, sink: tuple[str, ...]
) -> None:
    with bench.started(*sink, *MOMENTS["window"]) as running:
        running.wait_for("window begins")
        os.kill(running.process.pid, signal.SIGKILL)
        running.end()
        running.assert_nothing_left()
    assert list(bench.records.iterdir()) == []
    assert bench.measure(*sink).code == 0


@pytest.mark.needs_root
def test_too_little_lockable_memory_fails_on_a_sink_too(
    bench: Bench, sink: tuple[str, ...]
) -> None:
    need_tools("setpriv", "prlimit")
    before = ("prlimit", "--memlock=4096", *NOBODY)
    ended = bench.measure(*sink, "--io-timeout", "0.5", before=before, implementation="zero_copy")
    assert ended.code == 1
    record = bench.record()
    assert "No buffer space" in record["reason"]
    assert "ulimit -l" in record["remedy"]


# --- memory


def test_a_ring_that_has_no_room_is_a_failed_record_before_anything_starts(bench: Bench) -> None:
    ended = bench.measure(
        *("--msg-bytes", "16KiB", "--working-set", "1048576GiB"),
        *("--bin", str(bench.folder / "none")),
    )
    assert ended.code == 1
    record = bench.record()
    assert record["reason"].startswith(
        "the messages of a ring of 1024.0 TiB need 1024.0 TiB of memory, where "
    )
    assert "smaller working set" in record["remedy"]


def test_a_ring_beyond_the_user_s_own_limit_is_a_failed_record(bench: Bench) -> None:
    need_tools("prlimit")
    before = ("prlimit", "--as=400000000")
    assert bench.measure("--working-set", "512MiB", before=before).code == 1
    record = bench.record()
    assert re.match("sender: ring of 536870912 bytes.*Cannot allocate memory", record["reason"])
    assert "smaller working set" in record["remedy"]


# --- io_uring


def test_io_uring_that_the_kernel_forbids_is_skipped_with_its_reason(bench: Bench) -> None:
    ended = bench.measure(before=wrapper("forbid_io_uring"), implementation="uring_send")
    assert ended.code == 77
    record = bench.record()
    assert record["status"] == "skipped"
    assert re.match("sender: not available here: io_uring: .*not permitted", record["reason"])
    assert "config.yaml" in record["remedy"]
