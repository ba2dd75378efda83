"""Real measurements in processes of their own, to be killed, starved and forbidden things."""

import atexit
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from c.conftest import Build
from programs import add_program, alive, until

ROOT = Path(__file__).parents[2]
RECEIVER = "receiver_recv"
LIMIT_S = 120.0  # the longest that a test waits for anything, on the busiest host too [s]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "workflow")}
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")

# never connects, and ends with its control line, as a receiver must
SILENT_RECEIVER = """#!{python}
import sys
open(int(sys.argv[sys.argv.index("--control-fd") + 1])).read()
sys.exit("receiver: control: the orchestrator is gone")
"""

_EVENTS = {"task_clock_ns": "task-clock", "page_faults": "page-faults", "cycles": "cycles"}


def host_facts(perf: str | None) -> dict[str, Any]:
    """Return host facts in which perf, if a path is given, can count times and faults."""
    events = {
        name: {
            "perf_name": perf_name,
            "status": "supported" if perf and name != "cycles" else "not_supported",
            "reason": None,
        }
        for name, perf_name in _EVENTS.items()
    }
    return {
        "cpu": {"caches": {"llc_bytes": None}},
        "kernel": {"irq_time_accounting": None},
        "perf": {
            "path": perf,
            "status": "available" if perf else "missing",
            "reason": None if perf else "perf is not installed",
            "events": events,
        },
    }


@dataclass
class Bench:
    """A folder that everybody may use: programs, host facts, a lock and records."""

    folder: Path
    records: Path

    def write_host(self, perf: str | None) -> None:
        """Choose how perf is said to be on this host."""
        (self.folder / "host.json").write_text(json.dumps(host_facts(perf)))

    def command(self, *options: str, implementation: str = "two_copy") -> list[str]:
        """Return the command that measures one short repetition; later options win."""
        words = [sys.executable, "-m", "copycost.measure", implementation]
        words += ["--testbed", "loopback", "--warmup", "0.05", "--duration", "0.1"]
        words += ["--io-timeout", "15", "--bin", str(self.folder / "bin")]
        words += ["--host", str(self.folder / "host.json"), "--record", str(self.record_path)]
        return [*words, "--lock", str(self.folder / "lock"), *options]

    @property
    def record_path(self) -> Path:
        """Where the record goes."""
        return self.records / "rep=1.json"

    def record(self) -> dict[str, Any]:
        """Return the record that was written."""
        parsed: dict[str, Any] = json.loads(self.record_path.read_text())
        return parsed

    def measure(self, *options: str, before: Sequence[str] = (), **more: str) -> "Running":
        """Measure to the end; `before` are words before the command, such as setpriv."""
        with self.started(*options, before=before, **more) as running:
            return running.end()

    @contextmanager
    def started(
        self, *options: str, before: Sequence[str] = (), **more: str
    ) -> Iterator["Running"]:
        """Start measuring, in a process group of its own."""
        process = subprocess.Popen(
            [*before, *self.command(*options, **more)],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=ENVIRONMENT,
        )
        running = Running(process)
        try:
            yield running
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            assert process.stderr is not None
            process.stderr.close()

    def told(self, status: str) -> tuple[str, str]:
        """Return why nothing was measured, and the remedy, from a record with this status."""
        record = self.record()
        assert (record["status"], record["driver"], record["window"]) == (status, None, None)
        assert record["observed"] == {}
        return record["reason"], record["remedy"]


@dataclass
class Running:
    """A measurement that is under way, or over."""

    process: subprocess.Popen[bytes]
    text: str = ""
    seen: set[int] = field(default_factory=set)
    namespaces: set[str] = field(default_factory=set)

    def wait_for(self, words: str) -> None:
        """Wait until the measurement has said `words`, and look at its processes."""
        deadline = time.monotonic() + LIMIT_S
        while words not in self.text:
            assert self._read(deadline), f"ended without {words!r}: {self.text}"
        self.look()

    def look(self) -> None:
        """Remember all processes and network namespaces that the measurement has now."""
        for pid in [self.process.pid, *descendants(self.process.pid)]:
            self.seen.add(pid)
            with suppress(OSError):
                self.namespaces.add(namespace_of(pid))
        self.namespaces.discard(namespace_of(os.getpid()))

    def child(self, name: str) -> int:
        """Wait for a descendant whose program has this name and return its process id."""
        found: list[int] = []

        def look_for_it() -> bool:
            below = descendants(self.process.pid)
            found.extend(pid for pid in below if name in programs_of(pid))
            return bool(found)

        until(look_for_it, LIMIT_S, lambda: f"no process {name} in {LIMIT_S:g} s: {self.text}")
        self.look()
        return found[0]

    @property
    def code(self) -> int | None:
        """The exit code, once it has ended."""
        return self.process.returncode

    def end(self) -> "Running":
        """Wait for the end, by which all was said."""
        deadline = time.monotonic() + LIMIT_S
        while self._read(deadline):
            pass
        self.process.wait(timeout=LIMIT_S)
        return self

    def end_and_leave_nothing(self) -> "Running":
        """Wait for the end, and in a while of all processes and namespaces that were seen."""
        self.end()
        until(lambda: not self._left(), LIMIT_S, lambda: str(self._left()))
        return self

    def _read(self, deadline: float) -> bool:
        assert self.process.stderr is not None
        fd = self.process.stderr.fileno()
        ready, _, _ = select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"nothing more was said in {LIMIT_S:g} s: {self.text}"
        chunk = os.read(fd, 65536)
        self.text += chunk.decode()
        return bool(chunk)

    def _left(self) -> list[str]:
        left = [f"{pid} {programs_of(pid)}" for pid in self.seen if alive(pid)]
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if namespace_of(int(entry.name)) in self.namespaces:
                    left.append(f"{entry.name} in a namespace")
        return left


def descendants(pid: int) -> list[int]:
    """Return the children of a process, and theirs."""
    found: list[int] = []
    # children belong to the thread that started them
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in thread.read_text().split():
                found += [int(child), *descendants(int(child))]
    return found


def programs_of(pid: int) -> list[str]:
    """Return the names of a process's program and, if that may be an interpreter, its script."""
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        return [Path(word).name for word in words[:2]]
    return []


def namespace_of(pid: int) -> str:
    """Return the name of a process's network namespace."""
    return str(Path(f"/proc/{pid}/ns/net").readlink())


@cache
def programs_folder() -> Path:
    """Compile the programs once for all tests, where every user may run them."""
    folder = Path(tempfile.mkdtemp(prefix="copycost_test_"))
    atexit.register(shutil.rmtree, folder)
    folder.chmod(0o755)
    build = Build(folder / "bin", None)
    build.folder.mkdir()
    for strategy in ("two_copy", "zero_copy", "uring_send"):
        build.sender(strategy)
    assert build.receiver.name == RECEIVER
    (folder / "silent").mkdir()
    (folder / "silent" / "sender_two_copy").symlink_to(folder / "bin" / "sender_two_copy")
    add_program(folder / "silent" / RECEIVER, SILENT_RECEIVER.format(python=sys.executable))
    (folder / "lock").touch()  # others cannot make it here
    return folder


@contextmanager
def new_bench() -> Iterator[Bench]:
    """Yield the programs and a folder for records that is empty and open to all."""
    folder = programs_folder()
    records = folder / "records"
    records.mkdir()
    records.chmod(0o777)
    try:
        yield Bench(folder, records)
    finally:
        shutil.rmtree(records)


def need_testbed(testbed: str) -> None:
    """Skip the test if this user cannot have a testbed."""
    if not may_have(testbed):
        pytest.skip(f"this user cannot have the testbed {testbed}")


@cache
def may_have(testbed: str) -> bool:
    """Return whether this user can have a testbed."""
    probe = (
        f"from copycost.hosts.testbeds.testbed import open_testbed as t; t({testbed!r}).__enter__()"
    )
    command = [sys.executable, "-c", probe]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=False)
    return done.returncode == 0


def need_tools(*names: str) -> None:
    """Skip the test if a tool is missing."""
    for name in names:
        if shutil.which(name) is None:
            pytest.skip(f"no {name} on the PATH")
