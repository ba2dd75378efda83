"""What every kind of host does alike: this machine, a namespace of it, and one behind an agent."""

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from programs import alive, until
from unit.hosts.places import remote_host
from unit.hosts.test_lock import is_held

from copycost.errors import AttemptFailed, CannotStart, HostError, Unavailable
from copycost.hosts.cgroups import find_hierarchy, throttling_of
from copycost.hosts.host import AtEdges, Host, Program, stream
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import NamespaceHost, two_namespaces
from copycost.hosts.program import CONTROL, Launch, file_word, pipe_word
from copycost.hosts.window_edges import ClockReading, of_one_moment

LONG_S = 60.0
PYTHON = sys.executable
Start = Callable[[Launch], Program]


@pytest.fixture(params=["local", pytest.param("namespace", marks=pytest.mark.needs_root), "remote"])
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Host]:
    match request.param:
        case "local":
            yield LocalHost()
        case "namespace":
            with two_namespaces() as (first, _, _):
                yield NamespaceHost(LocalHost(), first, "a namespace")
        case _:
            with remote_host(tmp_path) as remote:
                yield remote


@pytest.fixture
def start(host: Host) -> Iterator[Start]:
    """Return what starts a program that is ended with the test."""
    started: list[Program] = []

    def start(launch: Launch) -> Program:
        started.append(host.start(launch))
        return started[-1]

    yield start
    for program in started:
        program.end()
        program.close()


# uses a CPU; ends by itself should its test fail
SPIN = "import time\nend_s = time.monotonic() + 30\nwhile time.monotonic() < end_s: pass"


def python(code: str, *more: str, **launch: object) -> Launch:
    return Launch((PYTHON, "-I", "-c", code, *more), PYTHON, **launch)  # type: ignore[arg-type]


def is_readable(fd: int, timeout_s: float = LONG_S) -> bool:
    return bool(select.select([fd], [], [], timeout_s)[0])


def lines_of(program: Program, n: int) -> list[str]:
    lines: list[str] = []
    while len(lines) < n:
        assert is_readable(program.control_fd), f"only {lines} came in"
        while (line := program.read_line()) is not None:
            lines.append(line)
    return lines


def test_what_a_program_leaves_can_be_read_after_its_end(start: Start) -> None:
    program = start(python("import sys; print('out'); print('err', file=sys.stderr); exit(3)"))
    assert is_readable(program.ended_fd)
    assert program.wait(LONG_S) == 3
    assert (program.output(), program.errors()) == ("out\n", "err\n")
    program.end()
    assert (program.exit_code, program.killed, program.output()) == (3, False, "out\n")
    program = start(python("print('so far', flush=True); import time; time.sleep(60)"))
    until(lambda: program.output() == "so far\n")
    assert (program.wait(0.01), program.exit_code) == (None, None)
    for _ in range(2):  # once more, as who cleans up does
        program.end()
        assert (program.exit_code, program.killed) == (-signal.SIGKILL, True)


def test_lines_go_both_ways_and_a_closed_line_asks_to_end(start: Start) -> None:
    code = (
        "import socket, sys\n"
        "line = socket.socket(fileno=int(sys.argv[1]))\n"
        "heard, ours = line.makefile('r'), line.makefile('w')\n"
        "print('ready', file=ours, flush=True)\n"
        "for said in heard: print('heard', said.strip(), file=ours, flush=True)\n"
        "print('over')\n"
    )
    program = start(python(code, CONTROL, control=True))
    assert lines_of(program, 1) == ["ready"]
    program.say("one")
    program.say("two")
    assert lines_of(program, 2) == ["heard one", "heard two"]
    program.end(timeout_s=LONG_S)
    assert (program.exit_code, program.killed, program.output()) == (0, False, "over\n")


def test_who_was_hung_up_on_is_heard_of_at_the_end(host: Host, start: Start) -> None:
    code = (
        "import socket, sys; line = socket.socket(fileno=int(sys.argv[1])); line.sendall(b'a\\nb');"
    )
    program = start(python(f"{code} line.recv(1); exit(4)", CONTROL, control=True))
    assert lines_of(program, 1) == ["a"]
    program.hang_up()
    assert is_readable(program.ended_fd)
    assert (program.exit_code, program.read_line()) == (4, None)
    program.end()
    assert host.run(["true"]).returncode == 0  # it still serves


def test_a_memory_file_is_read_here_and_there(host: Host, start: Start) -> None:
    code = "import os, sys, time; os.write(int(sys.argv[1]), b'found'); time.sleep(60)"
    program = start(python(code, file_word("notes"), files=("notes",)))
    until(lambda: program.file("notes") != "")
    assert program.file("notes") == "found"
    assert host.run(["cat", program.file_path("notes")]).stdout == "found"
    program.end()
    assert program.file("notes") == "found"


def test_a_wrapper_tells_its_child_which_is_ended_with_it(start: Start) -> None:
    # a name of another process, cut within a letter
    code = r"import time; open('/proc/self/comm', 'wb').write(b'\xd0'); time.sleep(60)"
    odd = start(python(code))
    until(lambda: b"(\xd0)" in Path(f"/proc/{odd.pid}/stat").read_bytes())
    program = start(Launch(("/bin/sh", "-c", "sleep 60 & echo $!; wait"), "/bin/sleep"))
    until(lambda: program.output() != "")
    child = program.child_pid()
    assert child == int(program.output())
    program.end()
    until(lambda: not alive(child))
    with pytest.raises(HostError, match="runs no program any more"):
        program.child_pid()
    program = start(Launch(("/bin/sh", "-c", "sleep 60 & echo $!"), "/bin/sleep"))
    assert is_readable(program.ended_fd)
    child = int(program.output())
    assert alive(child)
    program.end()
    until(lambda: not alive(child))


def test_a_program_keeps_to_its_cpus(host: Host, start: Start) -> None:
    cpu = min(host.usable_cpus())
    code = "import os; print(os.sched_getaffinity(0), os.environ['LC_ALL'])"
    program = start(python(code, cpus=frozenset({cpu})))
    program.wait(LONG_S)
    assert program.output() == f"{{{cpu}}} C\n"


def test_what_cannot_be_executed_is_named(start: Start) -> None:
    with pytest.raises(CannotStart) as caught:
        start(Launch(("/nowhere/program",), "/nowhere/program"))
    told = caught.value.path, caught.value.why
    assert told == ("/nowhere/program", "No such file or directory")


def test_a_short_command_gives_its_end_and_output(host: Host) -> None:
    text = "text\n" * 400_000
    done = host.run(["/bin/sh", "-c", "cat; echo said >&2; exit 4"], text)
    assert (done.returncode, done.stderr) == (4, "said\n")
    assert done.stdout == text
    assert host.run(["printf", r"\377."]).stdout == "\ufffd."
    with pytest.raises(HostError, match=r"sleep 60 did not end within 0\.1 s"):
        host.run(["sleep", "60"], timeout_s=0.1)
    with pytest.raises(FileNotFoundError, match="/nowhere/command"):
        host.run(["/nowhere/command"])


def test_the_output_of_a_command_comes_while_it_runs_and_a_failure_is_named(host: Host) -> None:
    with stream(host, [PYTHON, "-c", "for i in range(50000): print('line', i)"]) as output:
        lines = b"".join(output).splitlines(keepends=True)
    assert (len(lines), lines[0], lines[-1]) == (50000, b"line 0\n", b"line 49999\n")
    words = ["/bin/sh", "-c", "echo some; echo why >&2; exit 3"]
    failed = pytest.raises(HostError, match="/bin/sh -c ended with exit status 3: why")
    with failed, stream(host, words) as output:
        assert b"".join(output) == b"some\n"


def test_a_command_is_ended_with_a_block_that_fails(host: Host, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    words = ["/bin/sh", "-c", f"echo $$ > {pid_file}; echo; exec sleep 60"]
    with pytest.raises(ZeroDivisionError), stream(host, words) as output:
        assert next(output) + b"%d" % (1 // 0)
    until(lambda: not alive(int(pid_file.read_text())))


def test_files_are_read_as_by_anybody(host: Host) -> None:
    files = host.files
    assert files.text("proc/sys/kernel/osrelease") == os.uname().release
    assert files.text("proc/nothing") is None
    assert str(files.number("proc/sys/kernel/pid_max")) == files.text("proc/sys/kernel/pid_max")
    assert files.number("proc/loadavg") is None
    assert len(files.lines("proc/cpuinfo", 3)) == 3
    assert files.lines("proc/nothing", 3) == []
    assert Path("proc/self") in files.glob("proc/sel*")


def test_a_reader_reads_at_both_edges(host: Host) -> None:
    paths = ["proc/stat", "proc/net/snmp"]
    reader = host.reader(paths)
    at_ns, texts = reader.read()
    assert set(texts) == set(paths)
    assert texts["proc/stat"].startswith("cpu ")
    assert texts["proc/net/snmp"].startswith("Ip: ")
    for _ in range(2):  # a window that came late, and the one after it
        start_ns, end_ns = watch(host, reader)
        (first_ns, first), (second_ns, _) = reader.edges()
        assert set(first) == set(paths)
        assert at_ns < start_ns - host.clock_uncertainty_ns <= first_ns
        assert end_ns - host.clock_uncertainty_ns <= second_ns < end_ns + 1e9
    reader.close()
    with pytest.raises(FileNotFoundError):
        host.reader(["proc/stat", "proc/nothing"])


def test_the_use_of_processes_is_told_now_and_at_both_edges(host: Host, start: Start) -> None:
    program = start(python(SPIN))
    first = host.usage([program.pid])
    at_edges = host.usage_at_edges([program.pid])
    watch(host, at_edges)
    before, after = at_edges.edges()
    assert first is not None
    assert before is not None
    assert after is not None
    assert 0 < (after - before).at_ns < 1e9
    used = after - first
    assert 0 < used.cpu_ns <= used.at_ns * 1.1
    assert used.threads == {program.pid}
    assert after.written_bytes == 0
    program.end()
    assert host.usage([program.pid]) is None
    watch(host, at_edges)
    assert list(at_edges.edges()) == [None, None]


def test_a_program_is_asked_at_both_edges(host: Host, start: Start) -> None:
    code = (
        "import os, sys, time\n"
        "while asked := os.read(int(sys.argv[1]), 100):\n"
        "    os.write(int(sys.argv[2]), b'%d %s' % (time.monotonic_ns(), asked))"
    )
    words = pipe_word("asked", "read"), pipe_word("done", "write")
    program = start(python(code, *words, pipes=("asked", "done")))
    assert (program.ask("asked", "done", b"first", LONG_S) or b"").endswith(b" first")
    at_edges = program.ask_at_edges("asked", "done", (b"on", b"off"), LONG_S)
    edges_ns = watch(host, at_edges)
    for edge_ns, word, answer in zip(edges_ns, (b"on", b"off"), at_edges.edges(), strict=True):
        at, said = (answer or b"").split()
        assert said == word
        assert -host.clock_uncertainty_ns <= int(at) - edge_ns < 1e9
    program.signal(signal.SIGSTOP)
    assert program.ask("asked", "done", b"nothing", 0.05) is None
    program.end()
    assert program.ask("asked", "done", b"nothing", LONG_S) in (None, b"")


def watch(host: Host, at_edges: AtEdges[Any]) -> tuple[int, int]:
    """Let a window of 30 ms pass, and return its edges [ns, the host's clock]."""
    start_ns = host.clock_ns() + 30_000_000
    edges_ns = start_ns, start_ns + 30_000_000
    at_edges.plan(*edges_ns)
    for edge_ns in edges_ns:
        time.sleep(max(0, edge_ns - host.clock_ns()) / 1e9)
        at_edges.edge()
    return edges_ns


@pytest.mark.parametrize("whose", ["the program's", "the host's"])
def test_signals_reach_a_program_and_none_that_is_gone(
    host: Host, start: Start, whose: str
) -> None:
    program = start(python("import time; time.sleep(60)"))
    send = program.signal if whose == "the program's" else lambda n: host.signal([program.pid], n)
    host.prioritise([program.pid])
    send(signal.SIGTERM)
    assert program.wait(LONG_S) == -signal.SIGTERM
    send(signal.SIGTERM)
    program.end()
    assert not program.killed
    send(signal.SIGTERM)
    host.prioritise([program.pid])
    assert host.constant("SC_PAGE_SIZE") == os.sysconf("SC_PAGE_SIZE")  # it still serves


def test_what_there_is_is_that_of_the_machine(host: Host) -> None:
    for name in ("SC_PAGE_SIZE", "SC_CLK_TCK", "SC_NPROCESSORS_ONLN", "SC_NPROCESSORS_CONF"):
        assert host.constant(name) == os.sysconf(name)
    assert host.usable_cpus() == os.sched_getaffinity(0)
    with pytest.raises(ValueError, match="configuration name"):
        host.constant("SC_NOTHING")
    assert Path(host.find_tool("sh") or "").name == "sh"
    assert host.find_tool("no-such-tool") is None
    assert host.allows_congestion_control("reno")
    assert not host.allows_congestion_control("nonsense")


def test_the_clock_is_within_its_uncertainty(host: Host) -> None:
    difference_ns = host.clock_ns() - host.clock_offset_ns - time.monotonic_ns()
    assert abs(difference_ns) < 1e8
    assert 0 <= host.clock_uncertainty_ns < 1e8
    assert abs(host.clock_offset_ns) <= host.clock_uncertainty_ns  # it is one machine after all
    reading = host.resync()
    assert reading == ClockReading(host.clock_offset_ns, host.clock_uncertainty_ns)


def test_a_program_of_ours_runs_where_it_is_brought(host: Host, tmp_path: Path) -> None:
    own = tmp_path / "own_program"
    own.write_text("#!/bin/sh\necho ours $1\n")
    own.chmod(0o755)
    path = host.path_of(own)
    assert Path(path).name == "own_program"
    assert host.run([path, "here"]).stdout == "ours here\n"
    assert host.path_of(own) == path


def test_ports_are_free_and_different(host: Host) -> None:
    assert len(set(host.free_ports("0.0.0.0", 3))) == 3
    first = host.free_ports("0.0.0.0", 1)[0]
    assert host.free_ports("0.0.0.0", 1, (first, first + 20))[0] in range(first, first + 21)
    with pytest.raises(
        AttemptFailed, match=f"ports {first} to {first} at 0.0.0.0: 1 free, 2 needed"
    ):
        host.free_ports("0.0.0.0", 2, (first, first))
    with pytest.raises(OSError, match="family"):
        host.free_ports("::1", 1)


def test_a_lock_is_held_within_its_block(host: Host, tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with host.lock(path, []) as held:
        assert held.wait_s == 0.0
        assert is_held(path)
    assert not is_held(path)
    refused = pytest.raises(HostError, match="the lock against overlapping measurements")
    with refused, host.lock(tmp_path / "nowhere" / "lock", []):
        pass


def test_a_control_group_holds_a_program_back(host: Host, start: Start) -> None:
    try:
        find_hierarchy()
    except Unavailable as error:
        with pytest.raises(Unavailable, match="no control group"), host.cpu_group(20.0):
            pass
        pytest.skip(str(error))
    program = start(python(SPIN))
    with host.cpu_group(20.0) as group:
        group.add([program.pid])
        time.sleep(0.2)
        found = throttling_of(group.stat_path.read_text(), group.version)
        assert found.throttled_periods > 0
        group.release()
        path = group.path
        assert path.exists()
        with pytest.raises(Unavailable, match="did not let process"):
            group.add([2**22 + 1])
    assert not path.exists()


@pytest.mark.parametrize(
    ("durations_ns", "taken"),
    [([10**9, 0, 10**9], 0), ([3 * 10**9, 10**9, 2 * 10**9], 10**9)],
    ids=["until it took but a moment", "else the fastest of three"],
)
def test_a_reading_that_was_held_up_is_taken_again(
    monkeypatch: pytest.MonkeyPatch, durations_ns: list[int], taken: int
) -> None:
    now_ns = [0]
    monkeypatch.setattr(time, "monotonic_ns", lambda: now_ns[0])
    durations = iter(durations_ns)

    def read() -> int:
        took_ns = next(durations)
        now_ns[0] += took_ns
        return took_ns

    assert of_one_moment(read) == taken
