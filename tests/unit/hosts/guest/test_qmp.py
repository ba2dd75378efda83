"""QEMU that ends, refuses or hangs: a sentence each. A few lines of Python take its place."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from copycost.errors import HostError, TookTooLong
from copycost.hosts.guest.qemu import Emulator, running
from copycost.hosts.program import CONTROL

START = """\
import json, socket, sys, time
line = socket.socket(fileno=int(sys.argv[1]))
lines = line.makefile("rw")
def say(**message):
    lines.write(json.dumps(message) + "\\n"); lines.flush()
def answer(**message):
    heard = json.loads(lines.readline()); say(event="NOTHING"); say(**message); return heard
say(QMP={})
answer(**{"return": {}})
"""
OF_ANOTHER_MACHINE = """\
answer(**{"return": {}})
answer(**{"return": {}})
print("unknown section", flush=True)
say(event="MIGRATION", data={"status": "active"})
say(event="MIGRATION", data={"status": "failed"})
time.sleep(60)
"""


def emulator(tmp_path: Path, rest: str, limit_s: float = 20) -> AbstractContextManager[Emulator]:
    script = tmp_path / "qemu.py"
    script.write_text(START + rest)
    return running([sys.executable, str(script), CONTROL], limit_s)


def test_it_is_told_and_says_when_the_guest_stops(tmp_path: Path) -> None:
    rest = """\
heard = answer(**{"return": {}})
print(heard["execute"], heard["arguments"]["filename"][-6:], flush=True)
say(event="STOP")
"""
    with emulator(tmp_path, rest) as qemu:
        qemu.save(tmp_path / "state")
        qemu.await_stop()
        assert qemu.console() == ["xen-save-devices-state /state"]


@pytest.mark.parametrize(
    ("rest", "asked", "told"),
    [
        ('answer(error={"desc": "no room"})', lambda it: it.tell("cont"), "refused cont: no room"),
        (
            OF_ANOTHER_MACHINE,
            lambda it: it.load(Path("state")),
            "cannot load state; it said last: unknown section",
        ),
        ("sys.exit('no such level')", Emulator.await_stop, "status 1; it said last: no such level"),
        ("sys.exit('Kernel panic - x\\na')", Emulator.await_stop, "said last: Kernel panic - x"),
    ],
)
def test_what_goes_wrong_is_told_with_its_last_words(
    tmp_path: Path, rest: str, asked: Callable[[Emulator], None], told: str
) -> None:
    with emulator(tmp_path, rest) as qemu, pytest.raises(HostError, match=f"{told}$"):
        asked(qemu)


def test_a_guest_that_does_not_end_is_ended(tmp_path: Path) -> None:
    rest = 'print("still here", flush=True)\ntime.sleep(60)\n'
    with (
        emulator(tmp_path, rest, limit_s=1) as qemu,
        pytest.raises(TookTooLong, match=r"took too long; .*still here"),
    ):
        qemu.await_stop()
