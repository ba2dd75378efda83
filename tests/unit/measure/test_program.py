"""A program on this machine: what it is handed, which process it is, and how it ends."""

import signal
import time
from pathlib import Path

import pytest
from setups import HOST

from copycost.errors import CannotStart, HostError
from copycost.hosts.launch import CONTROL, Launch, file_word, pipe_word
from copycost.hosts.program import LocalProgram
from copycost.hosts.side import Side

# the longest that a busy host may take for anything [s]
LONG_S = 60.0
# stands for perf: starts another program, and waits for it
WRAPPED = Launch(("sh", "-c", "sleep 60 & echo $!; wait"), "/bin/sleep")


def shell(script: str, *words: str, **more: object) -> LocalProgram:
    launch = Launch(("bash", "-c", script, "bash", *words), "bash", **more)  # type: ignore[arg-type]
    return HOST.start(launch)


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def n_open() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_what_it_prints_and_writes_is_read_while_it_runs_and_afterwards() -> None:
    before = n_open()
    program = shell(
        'echo out; echo err >&2; echo more >&"$1"', file_word("counts"), files=("counts",)
    )
    assert program.wait(LONG_S) == 0
    assert (program.output(), program.errors(), program.file("counts")) == (
        "out\n", "err\n", "more\n",
    )  # fmt: skip
    assert Path(program.file_path("counts")).read_text() == "more\n"
    program.close()
    assert n_open() == before


def test_lines_go_both_ways_and_hanging_up_is_heard() -> None:
    script = 'exec <&"$1" >&"$1"; read line; echo "heard $line"; echo twice; cat; exit 7'
    program = shell(script, CONTROL, control=True)
    program.say("hello")
    lines: list[str] = []
    deadline_s = time.monotonic() + LONG_S
    while len(lines) < 2 and time.monotonic() < deadline_s:
        line = program.read_line()
        lines += [line] if line is not None else []
    assert lines == ["heard hello", "twice"]
    program.end(grace_s=10)
    assert (program.exit_code, program.killed) == (7, False)
    program.close()


def test_the_ends_of_pipes_that_no_word_names_are_ours() -> None:
    words = (pipe_word("orders", "read"), pipe_word("answers", "write"))
    script = 'read order <&"$1"; echo "did $order" >&"$2"'
    program = shell(script, *words, pipes=("orders", "answers"))
    program.write_pipe("orders", b"this\n")
    assert program.read_pipe("answers", 10.0) == b"did this\n"
    assert program.wait(LONG_S) == 0
    assert program.read_pipe("answers", 10.0) == b""  # the other end went with it
    program.write_pipe("orders", b"nobody listens\n")
    program.close()


def test_what_cannot_be_executed_is_named_and_leaves_no_descriptor() -> None:
    before = n_open()
    launch = Launch(
        ("/no/program", CONTROL), "/no/program", control=True, files=("a",), pipes=("b",)
    )
    with pytest.raises(CannotStart, match="/no/program: cannot be started: No such file"):
        HOST.start(launch)
    assert n_open() == before


def test_the_program_is_the_wrapper_s_child_where_there_is_one() -> None:
    program = HOST.start(WRAPPED)
    while not program.output():
        assert program.poll() is None
    child = int(program.output())
    assert Side("sender", HOST, [program]).pids == (child,)
    program.end()
    program.close()
    deadline_s = time.monotonic() + LONG_S
    while lives(child):  # the whole group goes
        assert time.monotonic() < deadline_s
        time.sleep(0.001)


def test_what_runs_without_a_wrapper_is_itself() -> None:
    program = shell("exec sleep 60")
    assert Side("sender", HOST, [program]).pids == (program.pid,)
    program.end()
    assert (program.exit_code, program.killed) == (-signal.SIGKILL, True)
    program.signal(signal.SIGTERM)  # of no effect: its number may be another's by now
    program.close()


def test_a_wrapped_program_that_is_gone_is_named() -> None:
    program = HOST.start(Launch(("true",), "/bin/sleep"))
    program.wait(LONG_S)
    with pytest.raises(HostError, match="true runs no program any more"):
        _ = Side("sender", HOST, [program]).pids
    program.close()


def test_cpus_are_set_before_it_runs() -> None:
    cpu = min(HOST.usable_cpus())
    program = shell("grep Cpus_allowed_list /proc/self/status", cpus=frozenset({cpu}))
    assert program.wait(LONG_S) == 0
    assert program.output().split() == ["Cpus_allowed_list:", str(cpu)]
    program.close()


def test_a_program_holds_the_lock_as_long_as_it_runs(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with HOST.lock(path, ()):
        program = shell(f'ls -l /proc/self/fd | grep -c "{path}"')
        assert program.wait(LONG_S) == 0
    later = shell(f'ls -l /proc/self/fd | grep -c "{path}"')
    assert later.wait(LONG_S) == 1
    program.close()
    later.close()
