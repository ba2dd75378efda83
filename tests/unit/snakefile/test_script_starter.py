"""Scripts as forks of one process: what they are told, how they end, when they are not begun."""

import json
import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from copycost.snakefile.script_starter import ScriptStarter

NEWS: list[Mapping[str, Any]] = []
REPORT = """
import json, os, sys
from pathlib import Path
told = {
    "pid": os.getpid(),
    "parent": os.getppid(),
    "argv": sys.argv,
    "name": __name__,
    "file": __file__,
    "threads": os.environ["OMP_NUM_THREADS"],
}
Path(__file__).with_suffix(".json").write_text(json.dumps(told))
"""
FULL_AT_FIRST = """
import os, shutil, time
from pathlib import Path
from types import SimpleNamespace
tries = Path(__file__).with_suffix(".tries")
with tries.open("a") as file:
    file.write("x")
if tries.read_text() == "x":
    room = iter(ROOM)
    shutil.disk_usage = lambda _: SimpleNamespace(free=next(room) << 30)
    time.sleep = lambda _: None
    # nothing is looked for, and set aside, before there is room
    snakemake = SimpleNamespace(input=iter(lambda: 1 / 0, None))
    raise OSError(28, "No space left on device")
"""


@pytest.fixture
def starter() -> Iterator[ScriptStarter]:
    one = ScriptStarter(NEWS.append)
    NEWS.clear()
    yield one
    one.close()


def script(folder: Path, text: str, name: str = "a.one.py") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def told(path: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(Path(path).with_suffix(".json").read_text("utf-8"))
    return found


def test_each_script_is_a_process_of_its_own(starter: ScriptStarter, tmp_path: Path) -> None:
    paths = [script(tmp_path, REPORT, f"{name}.same.py") for name in "ab"]
    assert [starter.run(path) for path in paths] == [0, 0]
    first, second = map(told, paths)
    assert first["pid"] != second["pid"]
    assert first["parent"] == second["parent"] != os.getpid()
    assert first["argv"] == [paths[0]]
    assert (first["name"], first["file"]) == ("__main__", paths[0])
    assert first["threads"] == "1"


def test_what_a_script_tells_is_heard_before_its_end(
    starter: ScriptStarter, tmp_path: Path
) -> None:
    text = "from copycost.snakefile.telling import *\ntell('a'); tell_chosen({'b': 2}, 1.5)"
    assert starter.run(script(tmp_path, text)) == 0
    assert NEWS == [{"line": "a"}, {"chosen": {"b": 2}, "each_s": 1.5}]


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("import sys; sys.exit(7)", 7, ""),
        ("raise SystemExit('too bad')", 1, "too bad"),
        ("1 / 0", 1, "ZeroDivisionError"),
        ("import copycost.nothing_of_this_name", 1, "ModuleNotFoundError"),
        ("import os; os.kill(os.getpid(), 9)", 137, ""),
        ("import os; os.kill(os.getpid(), 2)", 130, None),
        ("import atexit; atexit.register(print, 'at the end')", 0, "at the end"),
    ],
)
def test_exit_status_and_last_words(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], text: str, status: int, said: str | None
) -> None:
    starter = ScriptStarter(
        NEWS.append
    )  # within the test, so that it inherits what captures the output
    try:
        assert starter.run(script(tmp_path, text)) == status
    finally:
        starter.close()
    out, err = capfd.readouterr()
    if said is None:  # who pressed Ctrl-C knows
        assert out + err == ""
    else:
        assert said in out + err
    assert "script_server" not in err  # a traceback begins in the script


@pytest.mark.parametrize(("room", "status", "tries"), [("[0, 0, 1]", 0, 2), ("[0] * 60", 1, 1)])
def test_a_script_runs_again_once_the_disk_is_no_longer_full(
    starter: ScriptStarter, tmp_path: Path, room: str, status: int, tries: int
) -> None:
    path = script(tmp_path, FULL_AT_FIRST.replace("ROOM", room))
    assert starter.run(path) == status
    assert Path(path).with_suffix(".tries").read_text() == "x" * tries


def test_a_script_is_not_begun_where_the_server_is_gone(
    starter: ScriptStarter, tmp_path: Path
) -> None:
    path = script(tmp_path, REPORT)
    assert starter.run(path) == 0
    server = int(str(told(path)["parent"]))
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)
    assert starter.run(path) is None


def test_a_script_is_not_run_where_the_interrupt_came_before_it(
    starter: ScriptStarter, tmp_path: Path
) -> None:
    path = script(tmp_path, REPORT)
    assert starter.run(path) == 0
    os.kill(int(str(told(path)["parent"])), signal.SIGINT)
    Path(path).with_suffix(".json").unlink()
    assert starter.run(path) == 130
    assert not Path(path).with_suffix(".json").exists()
