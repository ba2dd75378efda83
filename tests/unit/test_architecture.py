"""Who may import and do what: rooms in the order of CONTRIBUTING.md, and what only hosts do.

Whoever measures asks a host, which starts programs, reads the kernel and asks the clock. Whatever
the package defines is named somewhere else, in the program or in its templates.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "workflow/copycost"

AT_THE_TOP = {"__init__.py", "__main__.py", "errors.py"}

# rooms that do not measure, or whose task this is
FREE = {"hosts", "build", "snakefile", "report", "cli"}
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

# where a name may be asked for; what only a test asks for serves nobody
CALLERS = ("workflow", "report", "tools", "run", "Snakefile")
CALLED_BY_OTHERS = {
    "tight_layout",  # by seaborn
    "readinto",  # by io.BufferedReader
    "filter_stream",  # by Jinja
    "narrowness",  # by the order of a dataclass
    *("CONTRADICTION", "ODD"),  # by their values, in report/audit_findings.csv
}
# of handlers, which the agent finds by the names of what it is asked
BY_PREFIX = "_do_"


def rooms() -> list[str]:
    """Return the rooms from the top floor down."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    section = page.split("## The rooms of the package")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)(?:\.py)?` \|", section, re.MULTILINE)


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Return all that a file of Python consists of."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def files(room: str) -> Iterator[Path]:
    return (PACKAGE / room).rglob("*.py")


def imported(path: Path) -> Iterator[str]:
    """Yield the dotted names that a file imports, within functions too."""
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def imported_rooms(room: str) -> Iterator[tuple[str, Path]]:
    """Yield the rooms that a room imports from, with the file that does."""
    names = ((name.split("."), path) for path in files(room) for name in imported(path))
    yield from ((name[1], path) for name, path in names if name[0] == "copycost" and name[1:])


def strings(path: Path) -> set[str]:
    """Return the texts in a file, without its docstrings."""
    docstrings = {id(node.value) for node in nodes(path) if isinstance(node, ast.Expr)}
    constants = (node for node in nodes(path) if isinstance(node, ast.Constant))
    return {str(node.value) for node in constants if id(node) not in docstrings}


def only_for_hosts(path: Path) -> set[str]:
    """Return the modules, calls and paths of the kernel's files that only a host may use."""
    used = {part for name in imported(path) for part in (name, name.split(".")[0])}
    used |= {
        f"{node.value.id}.{node.attr}"
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    kernel = {text for text in strings(path) if text.startswith(KERNEL_FILES)}
    return used & (MODULES | CALLS) | kernel - {OWN_DESCRIPTOR}


def test_every_module_is_in_a_room() -> None:
    assert {path.name for path in PACKAGE.glob("*.py")} == AT_THE_TOP
    folders = {path.parent.relative_to(PACKAGE).parts[0] for path in PACKAGE.glob("*/**/*.py")}
    assert folders | {"errors"} == set(rooms())


def test_a_room_imports_only_from_below() -> None:
    order = rooms()
    found = {
        (str(path), name)
        for place, room in enumerate(order)
        for name, path in imported_rooms(room)
        if name in order[:place]
    }
    assert found == set()


def test_nothing_in_the_package_imports_tools_and_no_driver_who_watches() -> None:
    for path in (*files("."), *(ROOT / "workflow/scripts").glob("*.py")):
        assert "tools" not in {name.split(".")[0] for name in imported(path)}, path
    assert "observers" not in dict(imported_rooms("measure/drivers"))


def test_no_module_imports_itself_by_way_of_others() -> None:
    modules = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path
        for path in files(".")
        if path.name != "__init__.py"
    }
    graph = {name: {*imported(path)} & modules.keys() - {name} for name, path in modules.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_only_a_host_starts_programs_reads_the_kernel_and_asks_clocks() -> None:
    measuring = (path for room in set(rooms()[:-1]) - FREE for path in files(room))
    found = {(str(path.relative_to(PACKAGE)), use)
             for path in measuring for use in only_for_hosts(path)}  # fmt: skip
    assert found == ALLOWED


def test_drivers_observers_and_testbeds_do_not_know_the_studies_that_want_them() -> None:
    for room in ("measure", "observers", "hosts"):
        # by hand, either study of ours may be asked for
        for path in {*files(room)} - {PACKAGE / "measure/__main__.py"}:
            assert not {"cpu_budget", "round_trips"} & strings(path), path


def test_the_picture_of_the_data_flow_names_rooms() -> None:
    picture = (ROOT / "docs/data_flow.svg").read_text(encoding="utf-8")
    named = " ".join(re.findall(r'font-family="monospace"[^>]*>([^<]+)<', picture)).split()
    assert named
    assert set(named) <= set(rooms())


def defined(path: Path) -> Iterator[str]:
    """Yield the functions, methods, classes, constants and fields that a file defines."""
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        for one in node.body if isinstance(node, ast.Module | ast.ClassDef) else []:
            if isinstance(one, ast.Assign | ast.AnnAssign):
                targets = one.targets if isinstance(one, ast.Assign) else [one.target]
                yield from (target.id for target in targets if isinstance(target, ast.Name))


def test_nothing_is_defined_that_nobody_names() -> None:
    named: Counter[str] = Counter()
    for path in (path for name in CALLERS for path in (ROOT / name, *(ROOT / name).rglob("*"))):
        if path.is_file() and "__pycache__" not in path.parts:
            named.update(re.findall(r"[A-Za-z_]\w*", path.read_text(errors="ignore")))
    lonely = {
        (str(path), name)
        for path in files(".")
        for name in defined(path)
        if named[name] < 2 and name not in CALLED_BY_OTHERS
        if not name.startswith((BY_PREFIX, "__"))
    }
    assert lonely == set()
