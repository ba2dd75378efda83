"""What the workflow costs beyond measuring: per repetition, with nothing to do, and at size."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from copycost.config.checkout import ROOT
from copycost.errors import HostError
from copycost.records.record import RECORD, Record
from tools.bench.rows import Limit, Row, row_of_rounds
from tools.bench.step_rows import Timed, analysis_rows, audit_rows, fleet_rows, table_rows, timed

_LEFT_BEHIND = (".git", ".venv*", "results", ".snakemake", "tests", "__pycache__", ".*_cache")

_OVERHEAD_LIMIT_S = Limit("at_most", 0.2)
_IDLE_LIMIT_S = Limit("at_most", 2)
_DRY_RUN_LIMIT_S = Limit("at_most", 8)
_IDLE_ROUNDS = 3

# The window is short, since what is asked for is everything around it.
_WINDOW = {"warmup_s": 0.02, "duration_s": 0.1}
_SHORT: dict[str, Any] = {"measure": _WINDOW}
# Studies with records of their own take another time per repetition.
_GRID_ALONE: dict[str, Any] = {
    study: {"enabled": False} for study in ("profile", "cpu_budget", "datagrams", "simulated")
}
_NOTHING_ELSE: dict[str, Any] = _GRID_ALONE | {
    "udp": {"implementations": []},
    "round_trips": {"implementations": []},
}
_TEN_THOUSAND = _NOTHING_ELSE | {
    "streams": {
        "implementations": ["two_copy", "one_copy"],
        "msg_bytes": [2**power for power in range(8, 18)],
        "n_threads": list(range(1, 11)),
    },
    "measure": {"repetitions": 50},
}


def workflow_rows(*, quick: bool) -> Iterator[Row]:
    """Yield the findings of real runs of the workflow in a copy of the project.

    `quick` runs the grid of config/tiny.yaml, where what a run costs once weighs more.
    """
    with project_copy() as project:
        config = write_config(project, "short", short_config(project, quick=quick))
        run = run_snakemake(project, ["--configfile", config])
        records = read_records(project)
        yield overhead_row(run, records)
        yield from part_rows(run, records)
        large = write_config(project, "large", _TEN_THOUSAND)
        dry = run_snakemake(project, ["--configfile", large, "-n"])
        note = f"{dry.cpu_s:.1f} s of CPU time, {dry.peak_bytes / 1e6:.0f} MB of memory"
        yield Row("workflow", "dry run of 10000 repetitions", dry.wall_s, "s",
                  limit=_DRY_RUN_LIMIT_S, note=note)  # fmt: skip
        copies = project.with_name("copies")
        yield from table_rows(copies, records)
        yield from analysis_rows(project, copies)
        yield from audit_rows(project, project.with_name("audited"))
        if not quick:  # all that a plain run measures, of which nothing is to be done then
            config = write_config(project, "all", _SHORT)
            run_snakemake(project, ["--configfile", config])
        idle = [run_snakemake(project, ["--configfile", config]) for _ in range(_IDLE_ROUNDS)]
        walls_s, least_s = [one.wall_s for one in idle], min(one.cpu_s for one in idle)
        yield row_of_rounds("workflow", "a run with nothing to do", walls_s, "s", _IDLE_LIMIT_S,
                            note=f"{least_s:.1f} s of CPU time")  # fmt: skip
        if not quick:
            yield from fleet_rows(project)


def short_config(project: Path, *, quick: bool) -> dict[str, Any]:
    """Return what overrides config.yaml so that its grid, or tiny.yaml's, has short windows."""
    short = _SHORT | _GRID_ALONE
    if quick:
        tiny = yaml.safe_load((project / "config/tiny.yaml").read_text())
        short |= _NOTHING_ELSE | {"streams": tiny["streams"]}
    return short


def overhead_row(run: Timed, records: Sequence[Record]) -> Row:
    """Return the wall time of a run less warm-up, window and waiting for others, per repetition."""
    spent_s = sum(_window_s(record) + record["lock_wait_s"] for record in records)
    overhead_s = (run.wall_s - spent_s) / len(records)
    note = f"of a run from compiler to report: {run.wall_s:.0f} s, {run.cpu_s:.0f} s of CPU time"
    return Row("workflow", "overhead per repetition", overhead_s, "s", n=len(records),
               limit=_OVERHEAD_LIMIT_S, note=note)  # fmt: skip


def part_rows(run: Timed, records: Sequence[Record]) -> Iterator[Row]:
    """Yield of which parts the overhead of a run consists.

    Before the first repetition, within the repetitions but for warm-up and window, from each to the
    next but for waiting, and after the last.
    """
    done = sorted(records, key=lambda record: record["start_ns"])
    inside_s = [record["wall_s"] - _window_s(record) for record in done]
    between_s = [
        (after["start_ns"] - before["end_ns"]) / 1e9 - after["lock_wait_s"]
        for before, after in pairwise(done)
    ]
    first_s = done[0]["start_ns"] / 1e9 - done[0]["lock_wait_s"] - run.begin_s
    last_s = run.begin_s + run.wall_s - done[-1]["end_ns"] / 1e9
    yield Row("workflow", "before the first repetition", first_s, "s")
    yield row_of_rounds("workflow", "within a repetition, without its window", inside_s, "s")
    if between_s:
        yield row_of_rounds("workflow", "from a repetition to the next", between_s, "s")
    yield Row("workflow", "after the last repetition", last_s, "s")


def _window_s(record: Record) -> float:
    return sum(_WINDOW.values()) if record["status"] == "measured" else 0.0


@contextmanager
def project_copy() -> Iterator[Path]:
    """Copy the project, without results and history, into a folder that ends with the block."""
    with tempfile.TemporaryDirectory(prefix="copycost-bench-") as folder:
        project = Path(folder) / "project"
        shutil.copytree(ROOT, project, ignore=shutil.ignore_patterns(*_LEFT_BEHIND))
        yield project


def write_config(project: Path, name: str, values: Mapping[str, Any]) -> str:
    """Write a config file that overrides config.yaml; return its path within the project."""
    path = Path("config") / f"bench_{name}.yaml"
    (project / path).write_text(yaml.safe_dump(dict(values)))
    return str(path)


def read_records(project: Path) -> list[Record]:
    """Return all raw records of a project."""
    paths = (project / "results/raw").rglob("*.json")
    records = [record for path in paths for record in RECORD.read_all(path)]
    if not records:
        raise HostError("bench: the run left no record in results/raw; see its output above")
    return records


def run_snakemake(project: Path, arguments: Sequence[str]) -> Timed:
    """Run Snakemake in a project as ``./run`` does, and measure it from outside."""
    launch = [sys.executable, "-SP", "workflow/copycost/cli/launch.py", "snakemake"]
    return timed(project, [*launch, "--cores", "1", *arguments])
