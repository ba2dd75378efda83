"""What befalls a run that is soaked.

Each trouble is a generator: it acts, and yields how long to wait [s]; closing it takes back what it
did. All of it is bounded, and reaches only processes below the run.
"""

import os
import random
import signal
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

Trouble = Generator[float, None, None]

DISK_BYTES = 256 << 20
"""Size of the file system below the results of a run [bytes]."""
FILLED = ".filled"
"""The file that fills it."""
CLOCK = ".venv/clock"
"""The file of a clone that says by how much its wall clock is off [s]."""

_MOST_MEMORY_BYTES = 3 << 30
_MOST_DAMAGED = 3
_SHIFT_S = struct.Struct("q")
# what burdens the host; its alarm ends it where nobody else does
_SPIN = "import signal; signal.alarm(60)\nwhile True: pass"
_TOUCH = """
import signal; signal.alarm(60)
held = bytearray({})
while True:
    for at in range(0, len(held), 4096): held[at] = held[at] + 1 & 255
"""
_FORK = """
import os, signal, time; signal.alarm(60)
for _ in range(40):
    for _ in range(50):
        if os.fork() == 0: time.sleep(0.02); os._exit(0)
    for _ in range(50): os.wait()
"""


@dataclass(slots=True)
class Victim:
    """A run: its first process, its clone, all chance, and what befell it and which records."""

    pid: int
    project: Path
    rng: random.Random
    acts: Counter[str] = field(default_factory=Counter)
    damaged: set[Path] = field(default_factory=set)

    @property
    def results(self) -> Path:
        """Its results, which lie in its own mount namespace."""
        return Path(f"/proc/{self.pid}/root{self.project}/results")


def descendants(pid: int) -> dict[int, str]:
    """Return the processes below one, and what each is; see proc(5)."""
    parents, names = {}, {}
    for folder in Path("/proc").glob("[1-9]*"):
        with suppress(OSError):
            before, _, after = (folder / "stat").read_text().rpartition(")")
            words = (folder / "cmdline").read_text(errors="replace")
            known = (word for word in ("script_server", "snakemake") if word in words)
            one = int(folder.name)
            parents[one] = int(after.split()[1])
            names[one] = next(known, before.partition("(")[2])
    below = {pid}
    while more := {one for one, parent in parents.items() if parent in below} - below:
        below |= more
    forks = {one for one in below if names.get(one) == names.get(parents.get(one, 0))}
    return {one: f"fork of {names[one]}" if one in forks else names[one] for one in below - {pid}}


def _burden(run: Victim, what: str, code: str, n: int, most_s: float) -> Trouble:
    while True:
        yield run.rng.uniform(0, most_s)
        programs = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(n)]
        run.acts[what] += 1
        try:
            yield run.rng.uniform(1, most_s)
        finally:
            for program in programs:
                program.kill()
                program.wait()


def _hogs(run: Victim) -> Trouble:
    return _burden(run, "hogs", _SPIN, (os.cpu_count() or 1) + 1, 15)


def _memory(run: Victim) -> Trouble:
    free_bytes = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    n_bytes = min(free_bytes // 2, _MOST_MEMORY_BYTES)
    return _burden(run, "memory", _TOUCH.format(n_bytes), 1, 10)


def _forks(run: Victim) -> Trouble:
    return _burden(run, "forks", _FORK, 1, 5)


def _stops(run: Victim) -> Trouble:
    """Stop one process for 10 ms to 2 s: each kind as often, however many there are of it."""
    while True:
        yield run.rng.uniform(0, 2)
        found = descendants(run.pid)
        kind = run.rng.choice(sorted(set(found.values())) or [""])
        pid = run.rng.choice([pid for pid in found if found[pid] == kind] or [0])
        with suppress(OSError):  # it has ended
            pidfd = os.pidfd_open(pid)
            try:
                if descendants(run.pid).get(pid) != kind:  # another has its number now
                    continue
                signal.pidfd_send_signal(pidfd, signal.SIGSTOP)
                run.acts[f"stop of {kind}"] += 1
                yield 10 ** run.rng.uniform(-2, 0.3)
            finally:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(pidfd, signal.SIGCONT)
                os.close(pidfd)


def _disk(run: Victim) -> Trouble:
    while True:
        yield run.rng.uniform(5, 60)
        with suppress(OSError):  # the run begins or ends
            if run.results.stat().st_dev == run.project.stat().st_dev:
                continue  # not mounted yet
            try:
                with (run.results / FILLED).open("wb", buffering=0) as file, suppress(OSError):
                    while file.tell() < DISK_BYTES:
                        file.write(bytes(1 << 20))
                run.acts["full disk"] += 1
                yield run.rng.uniform(1, 5)
            finally:
                with suppress(OSError):
                    (run.results / FILLED).unlink()


def _damage(run: Victim) -> Trouble:
    """Cut a few records short, empty them, or change a byte."""
    while len(run.damaged) < _MOST_DAMAGED:
        yield run.rng.uniform(0, 15)
        with suppress(OSError):
            while not (paths := sorted(run.results.glob("raw/**/rep=*.json"))):
                yield 0.2
            path = run.rng.choice(paths)
            content = path.read_bytes()
            at = run.rng.randrange(len(content) or 1)
            changed = content[:at] + b"#" + content[at + 1 :]
            path.write_bytes(run.rng.choice([b"", content[:at], changed]))
            run.damaged.add(path.relative_to(run.results))
            run.acts["damage"] += 1


def clock_environment(project: Path) -> dict[str, str]:
    """Return what gives a run in this clone a wall clock that can be stepped."""
    library, shift = (project / CLOCK).with_suffix(".so"), project / CLOCK
    source = Path(__file__).with_name("clock_step.c")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    shift.write_bytes(_SHIFT_S.pack(0))
    return {"LD_PRELOAD": str(library), "COPYCOST_SOAK_CLOCK": str(shift)}


def _clock(run: Victim) -> Trouble:
    """Step the wall clock by up to a minute, as a correction by NTP or a resumed guest does."""
    while True:
        yield run.rng.uniform(5, 40)
        with (run.project / CLOCK).open("r+b", buffering=0) as file:
            file.write(_SHIFT_S.pack(round(run.rng.uniform(-60, 60))))
        run.acts["clock step"] += 1


TROUBLES: Mapping[str, Callable[[Victim], Trouble]] = {
    "hogs": _hogs,
    "memory": _memory,
    "forks": _forks,
    "stops": _stops,
    "disk": _disk,
    "damage": _damage,
    "clock": _clock,
}
"""What may befall a run, by name."""
