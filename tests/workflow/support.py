"""The real workflow in a copy of this checkout, with a grid of seconds."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from programs import add_program

ROOT = Path(__file__).parents[2]

# Ends a run that hangs; a busy host takes ten times as long as a free one [s].
TIMEOUT_S = 900

# Of what scripts opened, in the folder of a checkout.
NOTES = "opened"

_TARGETS = {
    "all", "measure", "tables", "figures", "report", "profile", "cpu_budget", "datagrams",
    "audit",
}  # fmt: skip
# compiled modules are copied, which spares each copy two seconds; not those that are being written
_NOT_COPIED = shutil.ignore_patterns(".*", "*.pyc.*", "results", "*.egg-info", "node_modules")

# Eight short repetitions on the testbed that works everywhere; long enough for a busy host to let
# both sides run in each.
MICRO: Mapping[str, Mapping[str, Any]] = {
    "streams": {
        "implementations": ["two_copy", "one_copy"],
        "testbeds": ["loopback"],
        "msg_bytes": ["4KiB", "16KiB", "32KiB", "64KiB"],
        "n_threads": [1],
    },
    "udp": {"implementations": []},
    "round_trips": {"implementations": []},
    "placement": {
        "streams": {"implementations": [], "msg_bytes": [65536], "n_threads": [1]},
        "round_trips": {"implementations": [], "msg_bytes": [64], "n_threads": [1]},
    },
    "profile": {"enabled": False},
    "simulated": {"enabled": False},
    "measure": {
        "repetitions": 1,
        "minutes": "none",
        "warmup_s": 0.05,
        "duration_s": 0.3,
        "memory_floor": False,
    },
    "statistics": {"resamples": 200},
}


class _WithoutAliases(yaml.SafeDumper):
    """Writes a value that occurs twice out twice, as a configuration has to."""

    def ignore_aliases(self, data: object) -> bool:
        return True


@dataclass(frozen=True)
class Checkout:
    """A copy of the checkout that tests may edit, and run the workflow in."""

    path: Path

    def configure(self, section: str, **values: object) -> None:
        """Set values of config.yaml."""
        path = self.path / "config.yaml"
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
        config[section] = config.get(section, {}) | values
        text = yaml.dump(config, Dumper=_WithoutAliases, sort_keys=False)
        path.write_text(text, encoding="utf-8")

    def append(self, name: str, text: str) -> None:
        """Add text at the end of a file."""
        path = self.path / name
        path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")

    def copy(self, to: Path) -> "Checkout":
        """Return a copy that remembers what was run here: results and Snakemake's notes."""
        shutil.copytree(self.path, to, symlinks=True)
        return Checkout(to)

    def command(self, *arguments: str) -> list[str]:
        """Return the command that runs Snakemake."""
        return [sys.executable, "-m", "snakemake", *arguments]

    def snakemake(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run Snakemake to its end, in less time than a process of its own would take.

        It is in the network that we were in when the first was run; see `call` for another one.
        """
        with TemporaryDirectory() as folder:
            files = {name: str(Path(folder, name)) for name in ("stdout", "stderr")}
            order = {
                "words": arguments,
                "folder": str(self.path),
                "environment": clean_environment(),
            }
            code = _ask_server(json.dumps(order | files))
            said = {name: Path(file).read_text(encoding="utf-8") for name, file in files.items()}
        return _done(subprocess.CompletedProcess(arguments, code, **said), check)

    def call(
        self, command: Sequence[str | Path], *, check: bool = True, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in the checkout to its end."""
        done = subprocess.run(
            command,
            cwd=self.path,
            env=clean_environment() | environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return _done(done, check)

    def noted(self, *arguments: str) -> str:
        """Run Snakemake, and have every script note what it opens; return what is said."""
        own = {"PYTHONPATH": str(ROOT / "tests/workflow/noted"), "NOTES": str(self.path / NOTES)}
        return self.call(self.command(*arguments), **own).stdout

    def dry(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Return what a dry run says."""
        return self.snakemake(*arguments, "-n")

    def plan(self, *arguments: str) -> tuple[dict[str, int], list[str]]:
        """Return what a run would do now: jobs by rule, without targets, and cells by path."""
        done = self.dry(*arguments, "--quiet", "host")
        table = re.search(r"^job +count\n[- ]+\n(.*?)^total", done.stdout, re.DOTALL | re.MULTILINE)
        if table is None:
            assert "nothing to be done" in done.stdout, done.stdout
            return {}, []
        counts = dict(line.split() for line in table[1].splitlines())
        jobs = {rule: int(count) for rule, count in counts.items() if rule not in _TARGETS}
        cells = re.findall(r"^rule run_cell:.*?^    output: (\S+)$", done.stdout, re.S | re.M)
        return jobs, sorted(cells)

    def planned(self, *arguments: str) -> dict[str, int]:
        """Return how many jobs of each rule a run would do now; targets do not count."""
        return self.plan(*arguments)[0]

    def planned_cells(self) -> list[str]:
        """Return the paths of the records that a run would measure now, sorted."""
        return self.plan()[1]

    @contextmanager
    def started(self, command: Sequence[str | Path]) -> Iterator["subprocess.Popen[str]"]:
        """Start a command in a session of its own; whatever is left of it at the end is killed."""
        process = subprocess.Popen(
            command,
            cwd=self.path,
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        with process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)

    def rows(self, table: str) -> list[dict[str, str]]:
        """Return the rows of a table of the results."""
        with (self.path / f"results/tables/{table}.csv").open(newline="") as lines:
            return list(csv.DictReader(lines))

    def records(self) -> list[dict[str, Any]]:
        """Return all records, in the order of measuring."""
        paths = (self.path / "results" / "raw").rglob("rep=*.json")
        contents = (json.loads(path.read_text()) for path in paths)
        found = [one for content in contents for one in content.get("repetitions", [content])]
        return sorted(found, key=lambda record: record["start_ns"])


def _done(done: subprocess.CompletedProcess[str], check: bool) -> subprocess.CompletedProcess[str]:
    """Return how a command ended, which has to be well if that is checked."""
    if check and done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


@cache
def _server() -> "subprocess.Popen[str]":
    """Start the process that runs are forks of; it ends when nobody can ask any more."""
    return subprocess.Popen(
        # -P: nothing beside the script is on its path, as if it were a part of Snakemake
        [sys.executable, "-P", Path(__file__).with_name("server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=clean_environment(),
        text=True,
    )


def _ask_server(order: str) -> int:
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(f"{order}\n")
    server.stdin.flush()
    return int(server.stdout.readline())


def new_checkout(to: Path) -> Checkout:
    """Copy this checkout without its results, and give it the micro grid."""
    shutil.copytree(ROOT, to, symlinks=True, ignore=_NOT_COPIED)
    checkout = Checkout(to)
    for section, values in MICRO.items():
        checkout.configure(section, **values)
    return checkout


def put_first(monkeypatch: pytest.MonkeyPatch, program: Path, script: str) -> None:
    """Have a shell script found before any other program of its name."""
    add_program(program, f"#!/bin/sh\n{script}\n")
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)


def members_of(session: int) -> list[str]:
    """Return the command lines of the processes of a session that are still alive."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, *_, sid = stat.read_text().rpartition(")")[2].split()[:4]
            if int(sid) == session and state != "Z":
                found.append((stat.parent / "cmdline").read_text().replace("\0", " "))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def clean_environment() -> dict[str, str]:
    """Return the environment without what pytest's own runs put there."""
    kept = dict(os.environ)
    for name in ("PYTHONPATH", "SNAKEMAKE_PROFILE"):
        kept.pop(name, None)
    return kept
