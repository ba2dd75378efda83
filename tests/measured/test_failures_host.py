"""What the host forbids or lacks is said in one sentence, recorded, and measured around."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from measured.failures_support import NOBODY, Bench, may_have, need_tools

# words before a command: a user namespace of its own, in which limits touch nobody else
OWN_USER_NAMESPACE = ("unshare", "--user", "--map-root-user")
OWN_NETWORK = (*OWN_USER_NAMESPACE, "--net")


@pytest.fixture
def bench(bench: Bench) -> Bench:
    bench.write_host(None)
    return bench


def wrapper(name: str) -> tuple[str, ...]:
    """Return words that put something in the way of the command that follows."""
    return (sys.executable, str(Path(__file__).with_name("failures_wrappers.py")), name)


def limited(name: str, *before: str) -> tuple[str, ...]:
    """Return words that make a namespace in which the limit `name` is 0 for what follows."""
    script = f'echo 0 > /proc/sys/user/{name}; exec "$@"'
    return (*OWN_USER_NAMESPACE, "sh", "-c", script, "sh", *before)


@pytest.fixture(scope="module")
def _user_namespaces() -> None:
    need_tools("unshare")
    if subprocess.run([*OWN_NETWORK, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not make user namespaces")


# --- perf


def test_missing_perf_leaves_the_rest_of_the_measurement(bench: Bench) -> None:
    assert bench.measure().code == 0
    record = bench.record()
    assert record["driver"]["receiver"]["in_window"]["bytes"] > 0
    assert record["observed"]["perf_stat"]["sender"]["status"] == "missing"
    assert record["observed"]["perf_stat"]["sender"]["reason"] == "perf is not installed"
    statuses = {
        event["status"] for event in record["observed"]["perf_stat"]["sender"]["events"].values()
    }
    assert statuses == {"not_supported"}


def test_perf_that_vanished_is_named_and_measured_without(bench: Bench) -> None:
    bench.write_host("/nonexistent/perf")
    ended = bench.measure()
    assert ended.code == 0
    assert "/nonexistent/perf: No such file or directory: measuring without perf" in ended.text
    side = bench.record()["observed"]["perf_stat"]["receiver"]
    assert side["status"] == "failed"
    assert "/nonexistent/perf: No such file" in side["reason"]
    assert side["events"]["task_clock_ns"] == {
        "value": None,
        "status": "not_counted",
        "running_percent": None,
        "user_only": False,
    }


@pytest.mark.needs_perf
def test_perf_that_the_kernel_forbids_is_named_and_measured_without(bench: Bench) -> None:
    # a seccomp filter, as containers have it, since a stricter perf_event_paranoid is host-wide
    bench.write_host(shutil.which("perf"))
    assert bench.measure(before=wrapper("forbid_perf")).code == 0
    record = bench.record()
    assert record["driver"]["receiver"]["in_window"]["bytes"] > 0
    assert record["observed"]["perf_stat"]["sender"]["status"] == "failed"
    assert "perf ended with exit status" in record["observed"]["perf_stat"]["sender"]["reason"]


@pytest.mark.needs_root
@pytest.mark.needs_perf
def test_counts_of_user_mode_alone_are_marked(bench: Bench) -> None:
    need_tools("setpriv")
    if int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) != 2:
        pytest.skip("perf_event_paranoid is not 2, at which users count user mode only")
    bench.write_host(shutil.which("perf"))
    assert bench.measure(before=NOBODY).code == 0
    record = bench.record()
    events = record["observed"]["perf_stat"]["sender"]["events"]
    assert events["page_faults"]["user_only"]
    assert not events["task_clock_ns"]["user_only"]
    assert "user_mode_only" in [warning["code"] for warning in record["warnings"]]


# --- descriptors


def test_what_nobody_foresaw_costs_the_repetition_alone(bench: Bench) -> None:
    ended = bench.measure(before=wrapper("few_descriptors"))
    assert ended.code == 1
    record = bench.record()
    assert record["status"] == "failed"
    assert "Too many open files" in record["reason"]


# --- namespaces


@pytest.mark.usefixtures("_user_namespaces")
def test_no_network_namespace_allowed_is_skipped_with_the_remedy(bench: Bench) -> None:
    ended = bench.measure("--testbed", "veth", before=limited("max_net_namespaces"))
    assert ended.code == 77
    record = bench.record()
    assert record["status"] == "skipped"
    assert record["reason"].startswith("this host allows no network namespace")
    assert record["remedy"] == "raise the limit: sudo sysctl user.max_net_namespaces=1000"


@pytest.mark.usefixtures("_user_namespaces")
def test_no_user_namespace_allowed_is_skipped_with_the_remedy(bench: Bench) -> None:
    need_tools("setpriv")
    no_rights = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    limit = limited("max_user_namespaces", *no_rights)
    ended = bench.measure("--testbed", "veth", before=limit)
    assert ended.code == 77
    record = bench.record()
    assert record["reason"].startswith("this host allows no user namespace")
    assert record["remedy"] == "raise the limit: sudo sysctl user.max_user_namespaces=1000"
    assert bench.measure("--testbed", "loopback", before=limit).code == 0


# --- ports and peers


@pytest.mark.usefixtures("_user_namespaces")
def test_no_free_port_is_a_failed_record_with_the_remedy(bench: Bench) -> None:
    ended = bench.measure(before=(*OWN_NETWORK, *wrapper("ports_in_use")))
    assert ended.code == 1
    record = bench.record()
    assert "Address already in use" in record["reason"]
    assert "ip_local_port_range" in record["remedy"]


@pytest.mark.usefixtures("_user_namespaces")
def test_strangers_do_not_disturb_a_measurement(bench: Bench) -> None:
    ended = bench.measure(before=(*OWN_NETWORK, *wrapper("strangers")))
    assert ended.code == 0, ended.text
    record = bench.record()
    assert (
        record["driver"]["receiver"]["total"]["bytes"]
        == record["driver"]["sender"]["total"]["bytes"]
        > 0
    )


def test_a_peer_that_never_connects_is_a_failed_record(bench: Bench) -> None:
    ended = bench.measure("--bin", str(bench.folder / "silent"), "--io-timeout", "0.3")
    assert ended.code == 1
    assert "0 of 1 connections have greeted" in bench.record()["reason"]


# --- programs


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("not in this kernel", "take this implementation out of config.yaml"),
        ("Cannot allocate memory: more than RLIMIT_MEMLOCK", "ulimit -l"),
    ],
)
def test_a_strategy_that_this_host_lacks_is_skipped_with_its_reason(
    bench: Bench, said: str, remedy: str
) -> None:
    # stands for a sender whose probe finds that the kernel lacks something
    lacking = bench.folder / "bin" / "sender_lacking"
    lacking.write_text(f"#!/bin/sh\necho 'sender: lacking: {said}' >&2\nexit 77\n")
    lacking.chmod(0o755)
    assert bench.measure(implementation="lacking").code == 77
    record = bench.record()
    assert record["status"] == "skipped"
    assert record["reason"] == f"sender: lacking: {said}"
    assert remedy in record["remedy"]


def test_a_missing_program_is_a_failed_record(bench: Bench) -> None:
    assert bench.measure(implementation="nonesuch").code == 1
    assert "sender_nonesuch: cannot be started: No such file" in bench.record()["reason"]


def test_a_cpu_that_is_not_there_is_a_failed_record(bench: Bench) -> None:
    assert bench.measure("--sender-cpus", "99999").code == 1
    assert "measure.cpus.sender: got CPU 99999" in bench.record()["reason"]


# --- limits of memory


@pytest.mark.needs_root
@pytest.mark.usefixtures("_user_namespaces")
def test_too_little_lockable_memory_is_a_failed_record_with_the_remedy(bench: Bench) -> None:
    need_tools("setpriv", "prlimit")
    before = ("prlimit", "--memlock=4096", *NOBODY)
    ended = bench.measure("--io-timeout", "0.5", before=before, implementation="zero_copy")
    assert ended.code == 1
    record = bench.record()
    assert record["reason"].startswith("sender: ")
    assert "No buffer space" in record["reason"]
    assert "ulimit -l" in record["remedy"]


@pytest.mark.usefixtures("_user_namespaces")
def test_too_little_optmem_is_a_failed_record_with_the_remedy(bench: Bench) -> None:
    before = (*OWN_NETWORK, *wrapper("small_optmem"))
    ended = bench.measure("--io-timeout", "0.5", before=before, implementation="zero_copy")
    if "optmem_max" in ended.text and "Permission denied" in ended.text:
        pytest.skip("this kernel has one optmem_max for all namespaces")
    assert ended.code == 1
    record = bench.record()
    assert "No buffer space" in record["reason"]
    assert "optmem_max" in record["remedy"]


# --- the disk


@pytest.mark.usefixtures("_user_namespaces")
def test_a_full_disk_is_one_sentence_and_keeps_what_was_measured(bench: Bench) -> None:
    need_tools("mount")
    # a disk of one page, which the first file fills; the shell outlives the command to look at it
    script = (
        'mount -t tmpfs -o size=4k none "$0"; echo before > "$0/rep=0.json"; "$@";'
        ' echo "exit status $?, left: $(ls -A "$0"), $(cat "$0/rep=0.json")" >&2'
    )
    shell = ("sh", "-c", script, str(bench.records))
    ended = bench.measure(before=(*OWN_USER_NAMESPACE, "--mount", *shell))
    assert "rep=1.json: cannot be written (No space left on device)" in ended.text
    assert "Traceback" not in ended.text
    assert "exit status 1, left: rep=0.json, before" in ended.text


# --- the testbed sink

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
def sink() -> tuple[str, ...]:
    if not may_have("sink"):
        pytest.skip("this user cannot have the testbed sink")
    return SINK


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
