"""Ctrl-C at several moments of a real run: one line, and the run goes on from there."""

import os
import re
import selectors
import signal
import subprocess
import time
from pathlib import Path

import pytest
from programs import until
from workflow.support import TIMEOUT_S, Checkout, members_of

from tools.soak.__main__ import give_environment

LINE = "copycost: interrupted; what was measured stays, and the same command goes on from here."
# a result, or what is done next
_STEP = r"\[ *\d+/\d+\] |copycost: (still )?\w+ing "
OF_RUN = LINE.replace("copycost:", "run:")


def interrupt(checkout: Checkout, command: list[str], when: str | float) -> tuple[int, list[str]]:
    """Press Ctrl-C after so many seconds, or once words are said; return status and later lines."""
    with checkout.started(command) as running:
        said, before = _follow(running, when)
        status = running.wait(TIMEOUT_S)
        until(lambda: not members_of(running.pid), TIMEOUT_S)
        # what was being written at that moment may end its line
        return status, said[before:].decode().splitlines()


def _follow(running: "subprocess.Popen[str]", when: str | float) -> tuple[bytes, int]:
    """Press Ctrl-C at a moment; return all that was said, and how much of it before that."""
    assert running.stdout is not None
    os.set_blocking(running.stdout.fileno(), False)
    said, before = b"", None
    while not _catches_ctrl_c(running.pid):  # before that it ends without a word, as any shell does
        assert running.poll() is None
        time.sleep(0.001)
    start_s = time.monotonic()
    with selectors.DefaultSelector() as selector:
        selector.register(running.stdout, selectors.EVENT_READ)
        while True:
            if selector.select(0.02):
                chunk = os.read(running.stdout.fileno(), 1 << 16)
                if not chunk:
                    break
                said += chunk
            spent_s = time.monotonic() - start_s
            assert spent_s < TIMEOUT_S, said.decode()
            is_time = spent_s >= when if isinstance(when, float) else when.encode() in said
            if is_time and before is None:
                before = len(said)
                os.killpg(running.pid, signal.SIGINT)
    assert before is not None, f"ended before the Ctrl-C: {said.decode()}"
    return said, before


def _catches_ctrl_c(pid: int) -> bool:
    """Return whether a process has a handler of SIGINT; see proc(5)."""
    caught = re.search(r"^SigCgt:\t(\w+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return caught is not None and bool(int(caught[1], 16) & 1 << (signal.SIGINT - 1))


def own_words(lines: list[str]) -> list[str]:
    """Return lines without results and steps that were told at the same moment."""
    return [line for line in lines if line and not re.match(_STEP, line)]


MOMENTS = [0.05, 0.7, "building the programs", "[1/8]", "drawing the figures"]


@pytest.mark.slow
def test_ctrl_c_says_one_line_at_any_moment_and_the_run_goes_on(checkout: Checkout) -> None:
    give_environment(checkout.path)
    for when in MOMENTS:
        status, lines = interrupt(checkout, ["./run"], when)
        if status == -signal.SIGINT:  # on a busy host Python itself has not started by then
            assert when in MOMENTS[:2], when
            continue
        assert status == 130, when
        assert own_words(lines) in ([LINE], [OF_RUN]), when
    done = checkout.call(["./run"], check=False)
    assert done.returncode in (0, 3), done.stderr  # on a busy host a window may see no traffic
    assert len(checkout.records()) == 8
    assert (checkout.path / "results/report/report.html").is_file()
