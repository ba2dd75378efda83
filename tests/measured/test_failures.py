"""Whatever dies, at whatever moment: one clear sentence, and nothing left over."""

import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from measured.failures_support import RECEIVER, Bench, Running, may_have, need_testbed

# longer than a test waits for the end (LIMIT_S), so that nothing ends by itself
LONG = ("--warmup", "0.05", "--duration", "600")
# the phase in which to strike, and what makes it last
MOMENTS = {"handshake": ("--io-timeout", "600"), "warm-up": ("--warmup", "600"), "window": LONG}


@pytest.fixture(scope="module")
def testbed() -> str:
    return "veth" if may_have("veth") else "loopback"


@contextmanager
def reached(bench: Bench, moment: str, testbed: str) -> Iterator[Running]:
    """Start a measurement and wait until it is in the middle of a phase."""
    asks = ("--study", "round_trips", "--interval", "1000")  # a message that the other waits for
    how = MOMENTS.get(moment, (*asks, *LONG))
    options = ["--testbed", testbed, "--msg-bytes", "16KiB", *how]
    if moment == "handshake":  # lasts as long as the receiver does not connect
        options += ["--bin", str(bench.folder / "silent")]
    with bench.started(*options) as running:
        if moment == "handshake":
            running.child(RECEIVER)
        else:
            running.wait_for(f"{moment.removeprefix('asked ')} begins")
        yield running


@pytest.mark.parametrize(
    ("side", "moment", "where"),
    [
        *((side, moment, "") for side in ("sender", "receiver") for moment in MOMENTS),
        ("receiver", "asked window", ""),
        ("sender", "warm-up", "sink"),
        ("sender", "window", "sink"),
    ],
)
def test_a_killed_side_is_a_failed_record(
    bench: Bench, testbed: str, side: str, moment: str, where: str
) -> None:
    need_testbed(where or testbed)
    with reached(bench, moment, where or testbed) as running:
        program = {"sender": "sender_two_copy", "receiver": RECEIVER}[side]
        os.kill(running.child(program), signal.SIGKILL)
        ended = running.end_and_leave_nothing()
    assert ended.code == 1
    reason, remedy = bench.told("failed")
    # perf does not always tell when its program is killed before perf is ready
    how = "(was killed by SIGKILL|died without a word)"
    assert re.fullmatch(f"the {side} {how} during the {moment.removeprefix('asked ')}", reason)
    assert remedy.startswith("look for the out-of-memory killer in dmesg, then ")
    assert list(bench.records.iterdir()) == [bench.record_path]


@pytest.mark.parametrize("side", ["sender", "receiver"])
def test_a_side_killed_while_it_drains_is_a_failed_record(bench: Bench, side: str) -> None:
    # the drain lasts as long as the other one is stopped
    with bench.started("--duration", "0.3") as running:
        victim, other = running.child("sender_two_copy"), running.child(RECEIVER)
        if side == "receiver":
            victim, other = other, victim
        running.wait_for("window begins")
        os.kill(other, signal.SIGSTOP)
        running.wait_for("drain begins")
        os.kill(victim, signal.SIGKILL)
        os.kill(other, signal.SIGCONT)
        ended = running.end_and_leave_nothing()
    assert ended.code == 1
    assert bench.record()["reason"] == f"the {side} was killed by SIGKILL during the drain"


@pytest.mark.needs_perf
def test_a_killed_perf_is_named(bench: Bench, testbed: str) -> None:
    with reached(bench, "window", testbed) as running:
        os.kill(running.child("perf"), signal.SIGKILL)
        ended = running.end_and_leave_nothing()
    assert ended.code == 1
    assert "perf around the sender was killed by SIGKILL" in bench.record()["reason"]


@pytest.mark.needs_perf
def test_a_side_that_was_stopped_is_measured_again(bench: Bench, testbed: str) -> None:
    # each time tells perf, which takes the second for its program's end
    with bench.started("--testbed", testbed, "--duration", "1") as running:
        running.wait_for("window begins")
        side = running.child(RECEIVER)
        with suppress(FileNotFoundError, ProcessLookupError):
            while ") Z " not in Path(f"/proc/{side}/stat").read_text():
                os.kill(side, signal.SIGSTOP)
                os.kill(side, signal.SIGCONT)
        ended = running.end_and_leave_nothing()
    assert ended.code == 0
    assert bench.record()["status"] == "measured"


def test_a_side_that_hangs_is_ended_and_named(bench: Bench, testbed: str) -> None:
    with bench.started("--testbed", testbed, "--io-timeout", "0.5") as running:
        running.wait_for("warm-up begins")
        for name in ("sender_two_copy", RECEIVER):
            os.kill(running.child(name), signal.SIGSTOP)
        ended = running.end_and_leave_nothing()
    assert ended.code == 1
    assert "the sender did not say 'measured' within 2.5 s" in bench.record()["reason"]


@pytest.mark.parametrize(
    ("moment", "where"), [*((moment, "") for moment in MOMENTS), ("window", "sink")]
)
def test_a_killed_measurement_leaves_nothing(
    bench: Bench, testbed: str, moment: str, where: str
) -> None:
    need_testbed(where or testbed)
    with reached(bench, moment, where or testbed) as running:
        os.kill(running.process.pid, signal.SIGKILL)
        running.end_and_leave_nothing()
    assert list(bench.records.iterdir()) == []
    ended = bench.measure("--testbed", where or testbed, "--msg-bytes", "16KiB")
    assert ended.code == 0, "nor does the lock stay"


@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_ends_everything_with_one_sentence(bench: Bench, testbed: str, moment: str) -> None:
    earlier = bench.records / "rep=0.json"
    earlier.write_text("measured before\n")
    with reached(bench, moment, testbed) as running:
        os.killpg(running.process.pid, signal.SIGINT)
        ended = running.end_and_leave_nothing()
    assert ended.code == 1
    assert "Traceback" not in ended.text
    assert "interrupted, nothing of it is left; run again to go on" in ended.text
    assert list(bench.records.iterdir()) == [earlier]


def test_a_killed_workflow_takes_its_measurement_along(bench: Bench, testbed: str) -> None:
    # a workflow that starts the measurement through a shell, as Snakemake does
    workflow = (sys.executable, "-c", "import subprocess, sys; subprocess.call(sys.argv[1:])")
    shell = ("sh", "-c", '"$@"; exit', "sh")
    with bench.started("--testbed", testbed, *LONG, before=(*workflow, *shell)) as running:
        running.wait_for("window begins")
        os.kill(running.process.pid, signal.SIGKILL)
        ended = running.end_and_leave_nothing()
    assert "the workflow ended during the window" in ended.text
    assert list(bench.records.iterdir()) == []
