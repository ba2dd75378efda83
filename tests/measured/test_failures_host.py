"""What the host forbids or lacks is said in one sentence, recorded, and measured around."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

import pytest
from measured.failures_support import NOBODY, Bench, need_testbed, need_tools
from programs import add_program

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


def need_place(before: Sequence[str]) -> None:
    """Skip the test if the words before a wrapper of ours make no place to run something in."""
    words = list(takewhile(lambda word: word != sys.executable, before))
    if words:
        need_tools(words[0])
        done = subprocess.run([*words, "true"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"{' '.join(words[:3])}: {done.stderr}")


@dataclass(frozen=True)
class Lack:
    """What a host lacks, by words before the command; and what the record says of it."""

    reason: str  # a pattern
    remedy: str
    status: str = "failed"
    before: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    implementation: str = "two_copy"
    says: str = ""  # what a sender of this name says when it finds that the kernel lacks something


SINK = ("--testbed", "sink", "--msg-bytes", "16KiB")
# a file system of its own, in which the folder with nft is replaced by one without it
WITHOUT_NFT = """
set -e
folder=$(dirname "$(PATH=$PATH:/usr/sbin:/sbin command -v nft)")
mount -t tmpfs none /mnt
mkdir /mnt/all /mnt/some
mount --bind "$folder" /mnt/all
ln -sf /mnt/all/* /mnt/some
rm /mnt/some/nft
mount --bind /mnt/some "$folder"
exec "$@"
"""
REFUSED = Lack(
    r"nft -f - failed with exit status \d: .*not permitted", "CONFIG_NF_TABLES_NETDEV", "skipped",
    wrapper("forbid_nftables"), SINK,
)  # fmt: skip
LACKING = Lack("sender: lacking: .*", "", "skipped", implementation="lacking")
MORE_LOCKED = "Cannot allocate memory: more than RLIMIT_MEMLOCK"
NO_RIGHTS = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
RAISE = r"raise the limit: sudo sysctl user.max_{}_namespaces=1000"
LACKS = {
    "network namespaces": Lack(
        "this host allows no network namespace", RAISE.format("net"), "skipped",
        limited("max_net_namespaces"), ("--testbed", "veth"),
    ),
    "user namespaces": Lack(
        "this host allows no user namespace", RAISE.format("user"), "skipped",
        limited("max_user_namespaces", *NO_RIGHTS), ("--testbed", "veth"),
    ),
    "a free port": Lack(
        ".*Address already in use", "ip_local_port_range",
        before=(*OWN_NETWORK, *wrapper("ports_in_use")),
    ),
    "a peer that connects": Lack(
        ".*0 of 1 connections have greeted", "",
        options=("--bin", "silent", "--io-timeout", "0.3"),
    ),
    "a program": Lack(".*sender_nonesuch: cannot be started: No such file", "",
                      implementation="nonesuch"),
    "a CPU": Lack(r".*measure\.cpus\.sender: got CPU 99999", "",
                  options=("--sender-cpus", "99999")),
    "lockable memory": Lack(
        "sender: .*No buffer space", "ulimit -l", before=("prlimit", "--memlock=4096", *NOBODY),
        implementation="zero_copy",
    ),
    "optmem": Lack(
        ".*No buffer space", "optmem_max", before=(*OWN_NETWORK, *wrapper("small_optmem")),
        implementation="zero_copy",
    ),
    "memory for a ring, before anything starts": Lack(
        r"the messages of a ring of 1024\.0 TiB need 1024\.0 TiB of memory, where ",
        "smaller working set",
        options=("--msg-bytes", "16KiB", "--working-set", "1048576GiB", "--bin", "none"),
    ),
    "memory for a ring, by the user's own limit": Lack(
        "sender: ring of 536870912 bytes.*Cannot allocate memory", "smaller working set",
        before=("prlimit", "--as=400000000"), options=("--working-set", "512MiB"),
    ),
    "a part of the kernel": replace(
        LACKING, says="not in this kernel", remedy="take this implementation out of config.yaml"
    ),
    "lockable memory, as a probe finds": replace(LACKING, says=MORE_LOCKED, remedy="ulimit -l"),
    "nftables": Lack(
        "the command nft was not found$", "install the package nftables", "skipped",
        (*OWN_USER_NAMESPACE, "--mount", "sh", "-c", WITHOUT_NFT, "sh"), SINK,
    ),
    "a right to nftables": REFUSED,
    "a right to nftables, in a user namespace": replace(REFUSED, before=(*REFUSED.before, *NOBODY)),
}  # fmt: skip


@pytest.mark.parametrize("what", LACKS)
def test_what_a_host_lacks_is_said_with_the_remedy(bench: Bench, what: str) -> None:
    lack = LACKS[what]
    if NOBODY[0] in lack.before and os.geteuid() != 0:
        pytest.skip("only root can become another user")
    need_place(lack.before)
    if lack.options == SINK:
        need_testbed("sink")
    if lack.says:
        script = f"#!/bin/sh\necho 'sender: lacking: {lack.says}' >&2\nexit 77\n"
        add_program(bench.folder / "bin" / "sender_lacking", script)
    ended = bench.measure(*lack.options, before=lack.before, implementation=lack.implementation)
    if "optmem_max" in ended.text and "Permission denied" in ended.text:
        pytest.skip("this kernel has one optmem_max for all namespaces")
    assert ended.code == {"failed": 1, "skipped": 77}[lack.status], ended.text
    reason, remedy = bench.told(lack.status)
    assert re.match(lack.reason, reason)
    assert reason.endswith(lack.says)
    assert lack.remedy in remedy


# --- perf


@pytest.mark.parametrize(
    ("path", "before", "said"),
    [
        ("/nonexistent/perf", (), "/nonexistent/perf: No such file or directory"),
        # a seccomp filter, as containers have it, since a stricter perf_event_paranoid is host-wide
        pytest.param(
            shutil.which("perf"), wrapper("forbid_perf"), "perf ended with exit status",
            marks=pytest.mark.needs_perf,
        ),
    ],
)  # fmt: skip
def test_perf_that_cannot_be_had_is_named_and_measured_without(
    bench: Bench, path: str, before: tuple[str, ...], said: str
) -> None:
    bench.write_host(path)
    ended = bench.measure(before=before)
    assert ended.code == 0
    assert before or f"{said}: measuring without perf" in ended.text
    record = bench.record()
    assert record["driver"]["receiver"]["in_window"]["bytes"] > 0
    side = record["observed"]["perf_stat"]["receiver"]
    assert side["status"] == "failed"
    assert said in side["reason"]
    assert side["events"]["task_clock_ns"] == {
        "value": None,
        "status": "not_counted",
        "running_percent": None,
        "user_only": False,
    }


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


# --- the disk


def test_a_full_disk_is_one_sentence_and_keeps_what_was_measured(bench: Bench) -> None:
    need_tools("mount")
    need_place(OWN_USER_NAMESPACE)
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
