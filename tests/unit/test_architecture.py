"""Whoever measures asks a host, which starts programs, reads the kernel and asks the clock."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "workflow" / "copycost"

# rooms that do not measure, or whose task this is
FREE = {"hosts", "build", "snakefile", "report", "doctor", "cli"}
ROOMS = sorted(
    path.name
    for path in PACKAGE.iterdir()
    if (path / "__init__.py").exists() and path.name not in FREE
)

MODULES = {"subprocess", "multiprocessing", "ctypes", "fcntl", "resource"}
CALLS = {
    *("os.memfd_create", "os.fork", "os.posix_spawn", "os.kill", "os.killpg", "os.pidfd_open"),
    *("os.sched_getaffinity", "os.sched_setaffinity", "os.sched_setscheduler", "os.pipe"),
    *("os.sysconf", "os.cpu_count", "os.geteuid", "os.getuid"),
    *("os.system", "os.popen", "shutil.which", "socket.gethostname", "platform.uname"),
    *("time.monotonic_ns", "time.perf_counter", "time.perf_counter_ns", "time.clock_gettime"),
    *("time.process_time", "time.clock_gettime_ns"),
}
# what has a reason
ALLOWED = {
    # git is asked for the commit, which is no measurement either
    ("config/checkout.py", "subprocess"),
    # tables of many hosts are made in as many processes as may run; nothing is measured
    ("compare/hosts/fleet.py", "multiprocessing"),
    ("compare/hosts/fleet.py", "os.sched_getaffinity"),
}
KERNEL_FILES = ("/proc", "/sys", "/dev")
# the path of a descriptor, in a word for a tool that inherits it
OWN_DESCRIPTOR = "/proc/self/fd/"


def uses(tree: ast.Module) -> Iterator[str]:
    """Yield modules, calls and paths of the kernel's files that a file of Python uses."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (
                name for alias in node.names for name in (alias.name, alias.name.split(".")[0])
            )
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module.split(".")[0]
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Constant) and id(node) not in docstrings:
            yield from (path for path in [str(node.value)] if path.startswith(KERNEL_FILES))


def of_hosts(path: Path) -> set[str]:
    """Return what a file does that only a host may."""
    found = set(uses(ast.parse(path.read_text(encoding="utf-8"))))
    files = {one for one in found if one.startswith("/") and one != OWN_DESCRIPTOR}
    return (found & (MODULES | CALLS)) | files


@pytest.mark.parametrize("room", ROOMS)
def test_only_a_host_starts_programs_reads_the_kernel_and_asks_clocks(room: str) -> None:
    found = {
        (str(path.relative_to(PACKAGE)), use)
        for path in (PACKAGE / room).rglob("*.py")
        for use in of_hosts(path)
    }
    assert found <= ALLOWED


def test_every_exception_is_still_one() -> None:
    assert {(path, use) for path, use in ALLOWED if use in of_hosts(PACKAGE / path)} == ALLOWED


def test_drivers_observers_and_testbeds_do_not_know_the_studies_that_want_them() -> None:
    for room in ("measure", "observers", "hosts"):
        # by hand, either study of ours may be asked for
        for path in {*(PACKAGE / room).rglob("*.py")} - {PACKAGE / "measure" / "__main__.py"}:
            names = [
                node.value
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.Constant)
            ]
            assert not {"cpu_budget", "round_trips"} & set(map(str, names)), path
