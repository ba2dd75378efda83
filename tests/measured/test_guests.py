"""Guests that a run keeps: lent again and again, and gone with the run, whatever ends it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path

import guests
import pytest
from programs import until

from copycost.errors import HostError, Unavailable
from copycost.hosts.guest import network
from copycost.hosts.guest.host import (
    GuestFailed,
    GuestHost,
    ask_daemon,
    borrowed,
    connected,
    log_of,
)
from copycost.hosts.guest.image import Archive, agent_image
from copycost.hosts.guest.qemu import GuestSpec
from copycost.hosts.processes import parent_of
from copycost.hosts.program import Launch

pytestmark = [pytest.mark.usefixtures("our_daemon"), pytest.mark.needs_guests, pytest.mark.slow]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> GuestSpec:
    image = agent_image(guests.kernel(), ["virtio_net"], ["ip"])
    return guests.spec_of(image, tmp_path_factory.mktemp("guest"))


@contextmanager
def one_guest(spec: GuestSpec) -> Iterator[GuestHost]:
    with borrowed(spec, ["a"], network=False) as lease:
        yield lease.hosts[0]


def test_a_guest_is_booted_once_and_what_one_left_in_it_is_ended(spec: GuestSpec) -> None:
    with one_guest(spec) as first:
        assert first.run(["uname", "-r"]).stdout.strip() == guests.kernel().release
        left = first.start(Launch(("sleep", "99"), "sleep"))
        # a line that was cut within a message serves the next one
        first._connection._write(b'{"op": "run", "id": 7, "wor')
        first._connection._lose("was given up by the test")
    with one_guest(spec) as second:
        assert second.pid == first.pid
        assert second.files.text(f"proc/{left.pid}/comm") != "sleep"
        assert second.run(["uname"]).stdout == "Linux\n"


def test_a_full_disk_is_told_with_what_helps(spec: GuestSpec, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"#!/bin/sh\n" + os.urandom(100_000))

    full: list[int] = []

    def fill() -> None:
        with one_guest(spec) as host:
            full.append(host.pid)
            host.run(["sh", "-c", "busybox dd if=/dev/zero of=/tmp/much bs=64k"], timeout_s=60)
            host.path_of(program)

    with pytest.raises(GuestFailed, match="No space left on device") as failed:
        fill()
    assert "virtual.memory_mib" in failed.value.remedy
    with one_guest(spec) as fresh:
        assert fresh.pid not in full
        assert fresh.path_of(program)


def test_an_agent_that_hangs_costs_its_guest(spec: GuestSpec) -> None:
    with one_guest(spec) as hung:
        hung.start(Launch(("sh", "-c", "sleep 0.2; kill -STOP $PPID"), "sh"))
        time.sleep(0.5)
        hung._connection._lose("was given up by the test")  # it would wait for an answer
    with one_guest(spec) as fresh:
        assert fresh.pid != hung.pid


@pytest.mark.parametrize(
    ("what", "said"),
    [("sysrq", r"panicked \(Kernel panic.*sysrq"), ("kill", r"signal 9 to QEMU \(SIGKILL\)")],
)
def test_a_guest_that_ends_is_told_with_its_last_words(
    spec: GuestSpec, what: str, said: str
) -> None:

    def end_it() -> None:
        with one_guest(spec) as host:
            if what == "sysrq":
                host.start(Launch(("sh", "-c", "echo c >/proc/sysrq-trigger"), "sh"))
            else:
                os.kill(host.pid, signal.SIGKILL)
            host.run(["sleep", "9"], timeout_s=20)

    with pytest.raises(GuestFailed, match=said) as failed:
        end_it()
    assert "the last lines of its console" in failed.value.reason
    assert "fresh guest" in failed.value.remedy
    log = log_of(spec)
    assert failed.value.reason.endswith(f"; {log} has more")
    told = log.read_text(encoding="utf-8")
    assert re.search(f"guest a: the guest .*{said}", told)
    assert "guest a said: copycost: the guest is up" in told


@pytest.mark.parametrize(
    ("ballast_mib", "said"),
    [(100, "ran out of memory"), (None, r"Kernel panic|QEMU's exit status")],
)
def test_a_guest_that_cannot_boot_is_no_guest(
    spec: GuestSpec, tmp_path: Path, ballast_mib: int | None, said: str
) -> None:
    first_files = b""
    if ballast_mib:
        ballast = Archive()
        ballast.add("/ballast", bytes(ballast_mib << 20))
        ballast.write(tmp_path / "ballast")
        first_files = Path(spec.initrd).read_bytes() + (tmp_path / "ballast").read_bytes()
    initrd = Path(spec.initrd).with_name("broken")
    initrd.write_bytes(first_files)
    broken = replace(spec, initrd=str(initrd), memory_bytes=256 << 20)
    with pytest.raises(GuestFailed, match=said) as failed, one_guest(broken):
        pass
    assert not ballast_mib or "virtual.memory_mib" in failed.value.remedy
    assert "guest a said: " in log_of(broken).read_text(encoding="utf-8")


def test_a_fault_of_the_daemons_own_is_in_its_log(spec: GuestSpec, tmp_path: Path) -> None:
    log = tmp_path / "daemon.log"
    with connected(log) as client, pytest.raises(HostError, match="daemon has ended"):
        ask_daemon(client, {"spec": None})
    # the module's daemon, if it runs, has its log next to what its guests are made of
    logs = [one for one in (log, log_of(spec)) if one.is_file()]
    until(lambda: any("Traceback" in one.read_text(encoding="utf-8") for one in logs), 5.0)


REPETITION = """
import json, sys
from copycost.hosts.guest.host import GuestFailed, borrowed
from copycost.hosts.guest.qemu import GuestSpec
from copycost.errors import Unavailable
try:
    with borrowed(GuestSpec(**json.loads(sys.argv[1])), sys.argv[2:]) as lease:
        print(json.dumps([host.pid for host in lease.hosts]), flush=True)
        sys.stdin.read()
        lease.hosts[0].run(["true"])
except (GuestFailed, Unavailable) as error:
    print(json.dumps(error.reason), flush=True)
"""
RUN = (
    f"import subprocess, sys; subprocess.run([sys.executable, '-c', {REPETITION!r}, *sys.argv[1:]])"
)


@contextmanager
def a_run(spec: GuestSpec, *names: str) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Start a run with a repetition that has some guests; yield it and the guests' processes."""
    words = [sys.executable, "-c", RUN, json.dumps(asdict(spec)), *names]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow")}
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, env=environment) as run:
        assert run.stdout is not None
        pids = json.loads(run.stdout.readline())
        if isinstance(pids, str):
            pytest.skip(pids)
        yield run, pids
        run.kill()


def holders_of(network: Path) -> list[str]:
    """Return the processes that hold a network namespace, as theirs or by a descriptor."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has just ended
            for link in (process / "ns/net", *(process / "fd").iterdir()):
                with suppress(OSError):
                    if link.readlink() == network:
                        found.append(str(link))
    return found


@pytest.mark.parametrize(("victim", "names"), [("run", "ab"), ("daemon", "a")])
def test_nothing_is_left_when_run_or_daemon_is_killed(
    spec: GuestSpec, victim: str, names: str
) -> None:
    with a_run(spec, *names) as (run, pids):
        daemon = parent_of(pids[0])
        watched = [os.pidfd_open(pid) for pid in (daemon, *pids)]
        network = Path(f"/proc/{daemon}/ns/net").readlink()
        assert network != Path("/proc/self/ns/net").readlink()
        files = {*Path(spec.initrd).parent.iterdir()}
        os.kill(run.pid if victim == "run" else daemon, signal.SIGKILL)
        deadline_s = time.monotonic() + 5.0
        assert all(guests.ends(fd, deadline_s - time.monotonic()) for fd in watched)
        assert run.stdin is not None
        assert run.stdout is not None
        run.stdin.close()
        if victim == "daemon":
            assert "daemon has ended" in run.stdout.readline()
        # TAP devices and bridge are in the namespace, which goes with the last that holds it
        until(lambda: not holders_of(network), deadline_s - time.monotonic())
        assert {*Path(spec.initrd).parent.iterdir()} == files
    for fd in watched:
        os.close(fd)


def test_a_host_without_taps_is_told_what_helps(
    spec: GuestSpec, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(network, "_TUN", tmp_path / "tun")
    with pytest.raises(Unavailable, match=r"there is no .*/tun, so guests can have no network"):
        network.require_taps()
