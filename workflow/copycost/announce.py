"""What a run says before its first job and after its last; what is said of each is in `progress`.

Needs Snakemake's inside, as `copycost.entry` does.
"""

import atexit
import os
import sys
from pathlib import Path
from typing import Any

from copycost import progress, retry
from copycost.added import all_paths
from copycost.config import Config

PROGRESS_PATH = Path("results/logs/progress.json")
MEASURING_RULE = "run_cell"
CHOOSING_RULE = "choose_sizes"

# Windows that a job of another study measures: a profile has an undisturbed one to compare with.
OTHER_MEASURING_RULES = {"profile_cell": 2, "run_budget": 1, "run_datagrams": 1}
# What such a job takes besides [s]: iperf3 has to start and end, samples have to be read.
OTHER_OVERHEAD_S = 2.0


def say_what_follows(workflow: Any, config: Config) -> None:  # noqa: ANN401
    """Before the first job: how many repetitions will be measured, and how long that takes."""
    jobs = _waiting_jobs(workflow)
    n_cells = _count(jobs, MEASURING_RULE)
    print(progress.begin(PROGRESS_PATH, n_cells, _window_s(config)))
    _say_more(jobs, config)


def say_what_would_follow(workflow: Any, config: Config) -> None:  # noqa: ANN401
    """At the end of a dry run, for which Snakemake has no hook, say the same."""

    def say() -> None:
        jobs = _waiting_jobs(workflow)
        n_cells = _count(jobs, MEASURING_RULE)
        if jobs:
            print(progress.forecast(n_cells, len(jobs) - n_cells, _window_s(config)))
            _say_more(jobs, config)

    if workflow.output_settings.dryrun:
        atexit.register(say)


def _say_more(jobs: list[Any], config: Config) -> None:
    """Say what cannot be told from the number of repetitions, where there is something."""
    others = [job for job in jobs if job.rule.name in OTHER_MEASURING_RULES]
    if others:
        took = progress.format_duration(sum(map(_expected_s, others)))
        n_others = progress.count(len(others), "repetition")
        print(f"copycost: other studies have {n_others} to measure, which takes about {took}.")
    if _count(jobs, CHOOSING_RULE):
        n_more = config.refine.max_cells * config.measure.repetitions
        print(f"copycost: at most {n_more} more may follow, around open crossovers.")
    crowded = _more_threads_than_cpus(config)
    if crowded and _count(jobs, MEASURING_RULE):
        print(crowded)
    sys.stdout.flush()


def _expected_s(job: Any) -> float:  # noqa: ANN401 - Snakemake's
    """Return about how long a job of another study takes [s]; its rule has `settings`."""
    settings = job.params.settings
    window_s = settings["warmup_s"] + settings["duration_s"]
    return float(OTHER_MEASURING_RULES[job.rule.name] * window_s + OTHER_OVERHEAD_S)


def _more_threads_than_cpus(config: Config) -> str | None:
    """Return a remark where a cell has more threads than CPUs, which is a valid experiment."""
    grids = (config.streams, config.udp, config.round_trips)
    counts = {n for grid in grids if grid.implementations for n in grid.n_threads}
    n_cpus = len(os.sched_getaffinity(0))
    above = sorted(n for n in counts if n > n_cpus)
    if not above:
        return None
    return (
        f"copycost: {progress.count(n_cpus, 'CPU')} for {', '.join(map(str, above))} threads at "
        "each side: they take turns there, which is part of what is measured."
    )


def _window_s(config: Config) -> float:
    return config.measure.warmup_s + config.measure.duration_s


def _waiting_jobs(workflow: Any) -> list[Any]:  # noqa: ANN401
    """Return the jobs that will be done; targets do nothing."""
    # A dry run counts its jobs as finished once it has shown them.
    waiting = workflow.dag.needrun_jobs(exclude_finished=False)
    return [job for job in waiting if not job.is_norun]


def _count(jobs: list[Any], rule: str) -> int:
    return sum(job.rule.name == rule for job in jobs)


def say_what_came_out(config: Config) -> None:
    """After the last job: how many repetitions there are, and where the report is."""
    paths = [Path(path) for path in all_paths(config)]
    if not any(path.is_file() for path in paths):
        return  # an audit, or tests, of a checkout that never measured
    print(f"copycost: {retry.summarise(paths)}.")
    reports = [Path(f"results/report/report.{name}") for name in config.report.formats]
    existing = [str(path) for path in reports if path.is_file()]
    if existing:
        print(f"copycost: the report is {' and '.join(existing)}")
    sys.stdout.flush()


def say_how_to_go_on() -> None:
    """After an error or an interruption: what is kept, and what to do."""
    print(
        "copycost: stopped before the end; the reason is above, details are in results/logs. "
        "What was measured stays: the same command again goes on from here.",
        file=sys.stderr,
    )
