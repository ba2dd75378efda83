"""What Ctrl-C does to a process, wherever it is."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from copycost.cli import environment
from copycost.config.checkout import ROOT

BEGIN = """
import asyncio, logging, os, signal, sys, threading, warnings
from copycost.snakefile import interruption
interruption.end_quietly(line="interrupted\\n", exit_code=7)
interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)
"""


def run(text: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + text],
        env={"PYTHONPATH": str(ROOT / "workflow")},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "interrupt()",
        "try:\n    interrupt()\nfinally:\n    logging.getLogger('x').error('lost')",
        "try:\n    interrupt()\nfinally:\n    1 / 0",
        "try:\n    interrupt()\nfinally:\n    one = threading.Thread(target=lambda: 1 / 0)\n"
        "    one.start()\n    one.join()",
    ],
)
def test_one_line_is_said_whatever_breaks_off(text: str) -> None:
    status, out, err = run(text)
    assert (out, err) == ("", "interrupted\n")
    assert status in (7, 1)  # 1 where the end itself was lost


def test_the_end_is_an_orderly_one_and_a_second_one_ends_at_once() -> None:
    assert run("try:\n    interrupt()\nfinally:\n    print('cleared up')")[1] == "cleared up\n"
    again = "interruption.end_quietly(line='another')\n"  # the exit status stays
    status, out, _ = run(f"{again}try:\n    interrupt()\nfinally:\n    interrupt()\n    print()")
    assert (status, out) == (7, "")


@pytest.mark.parametrize(
    "taken", ["finally: 1 / 0", "except SystemExit: pass", "except SystemExit: sys.exit(1)"]
)
def test_a_started_module_ends_as_interrupted_however_it_takes_it(
    tmp_path: Path, taken: str
) -> None:
    code = f"import os, signal, sys\ntry: os.kill(os.getpid(), signal.SIGINT)\n{taken}\n"
    (tmp_path / "interrupted_at_once.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-SP", ROOT / "workflow/copycost/cli/launch.py", "interrupted_at_once"],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr == ""


def test_one_that_comes_while_python_starts_is_held_back_and_ends_it_without_a_word(
    capfd: pytest.CaptureFixture[str],
) -> None:
    python = f"{sys.executable} -SP {ROOT / 'workflow/copycost/cli/launch.py'} this"
    done = environment.run(["sh", "-c", f"kill -INT $$; echo held back; exec {python}"])
    assert done.returncode == -signal.SIGINT
    assert capfd.readouterr() == ("held back\n", "")
