"""What a run says before its first job and after its last; `progress` says the rest."""

import atexit
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from copycost.config.config import Config
from copycost.config.passes import MORE_PATH
from copycost.errors import DataError
from copycost.snakefile import host_change, passes_ahead, progress, retry
from copycost.snakefile.chapters import CHAPTERS
from copycost.snakefile.internals import all_jobs, is_dry_run, is_first_process, waiting_jobs

PROGRESS_PATH = Path("results/logs/progress.json")
GRID_RULE = "run_cell"
CHOOSING_RULE = "choose_cells"
REPORTING_RULE = "render_report"
HOST_RULE = "collect_host"

# The rules that measure repetitions; their `settings` say how long the windows are.
PROFILING_RULE = "profile_cell"
DRIVING_RULES = ("run_budget", "run_datagrams")
MEASURING_RULES = (GRID_RULE, PROFILING_RULE, *DRIVING_RULES)


def say_what_follows(workflow: Any, config: Config) -> None:  # noqa: ANN401
    """Before the first job: how many repetitions will be measured, and how long that takes."""
    jobs = waiting_jobs(workflow)
    measuring = _measuring(jobs)
    _say_the_host_changed(workflow, jobs, measuring)
    _say_the_form_changed(measuring)
    said = progress.begin(PROGRESS_PATH, len(measuring), _expected_s(measuring))
    if _measuring(all_jobs(workflow)):  # else it is an audit, say
        print(said)
    _say_more(jobs, config)


def say_what_would_follow(workflow: Any, config: Config) -> None:  # noqa: ANN401
    """At the end of a dry run, or where there is nothing to do, say what there is to say.

    Snakemake has no hook for these.
    """

    def say() -> None:
        jobs = waiting_jobs(workflow)
        measuring = _measuring(jobs)
        if jobs and not is_dry_run(workflow):
            return  # said at the start
        _say_the_host_changed(workflow, jobs, measuring)
        _say_the_form_changed(measuring)
        if jobs:
            n_others = len(jobs) - len(measuring)
            print(progress.forecast(len(measuring), _expected_s(measuring), n_others))
            _say_more(jobs, config)

    if is_first_process(workflow):
        atexit.register(say)


def _say_more(jobs: list[Any], config: Config) -> None:
    """Say what cannot be told from the number of repetitions, where there is something."""
    rules = {job.rule.name for job in jobs}
    if config.measure.more_rounds and rules.intersection({GRID_RULE, CHOOSING_RULE}):
        print(
            f"copycost: {progress.count(config.measure.more_rounds, 'round')} of every cell beyond "
            f"the usual ones are part of this, as measure.more_rounds says ({MORE_PATH}, where "
            "./run more was asked for them)."
        )
    if CHOOSING_RULE in rules:
        print(passes_ahead.forecast(config))
    crowded = _more_threads_than_cpus(config)
    if crowded and GRID_RULE in rules:
        print(crowded)
    sys.stdout.flush()


def _say_the_form_changed(measuring: Iterable[Any]) -> None:
    """Say where records of an earlier copycost are there, which are measured anew."""
    paths = (Path(str(job.output.record)) for job in measuring)
    # before there were placements, whose folder is the last, records lay beside it
    places = (place for path in paths for place in (path, path.parent.with_name(path.name)))
    first = next((place for place in places if place.is_file()), None)
    if first is not None and retry.is_of_another_form(first):
        print("copycost: the form of records has changed since these were made: measuring anew.")


def _say_the_host_changed(workflow: Any, jobs: list[Any], measuring: list[Any]) -> None:  # noqa: ANN401
    """Say where the results are of another host, and end a run that would mix the two."""
    if not any(job.rule.name == HOST_RULE for job in all_jobs(workflow)):
        return  # nothing here is about a host
    described_anew = any(job.rule.name == HOST_RULE for job in jobs)
    said = host_change.remark(described_anew=described_anew, measures=bool(measuring))
    if said is None:
        return
    if measuring and not described_anew and not is_dry_run(workflow):
        sys.exit(said)
    print(said, file=sys.stderr)


def _measuring(jobs: Iterable[Any]) -> list[Any]:
    """Return those jobs that measure a repetition."""
    return [job for job in jobs if job.rule.name in MEASURING_RULES]


def _expected_s(measuring: list[Any]) -> float:
    """Return about how long the jobs that measure take together [s]."""
    window_s = {}
    for name, job in {job.rule.name: job for job in measuring}.items():  # one of each rule
        settings = job.params.settings  # the same for all of a rule
        window_s[name] = settings["warmup_s"] + settings["duration_s"]
    return sum(_pace_of(job).expected_s(window_s[job.rule.name]) for job in measuring)


def _pace_of(job: Any) -> progress.Pace:  # noqa: ANN401
    if job.rule.name == PROFILING_RULE:
        return progress.pace_of_profile(job.wildcards.implementation)
    return progress.DRIVEN if job.rule.name in DRIVING_RULES else progress.STREAMS


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


def say_what_came_out(workflow: Any, config: Config) -> None:  # noqa: ANN401
    """After the last job: how many repetitions there are, and where the report is."""
    jobs = all_jobs(workflow)
    records = [Path(job.output.record) for job in _measuring(jobs)]
    if records:
        print(f"copycost: {retry.summarise(records)}.")
    rules = {job.rule.name for job in jobs}
    if REPORTING_RULE in rules:
        _say_the_answer()
        reports = [f"results/report/report.{name}" for name in config.report.formats]
        print(f"copycost: the report is {' and '.join(reports)}")
    else:
        for study in CHAPTERS:
            if study in rules:
                print(
                    f"copycost: {study}: tables are in results/tables, figures in "
                    f"results/figures/{study}; `./run {study} report` adds it to the report."
                )
    sys.stdout.flush()


def _say_the_answer() -> None:
    """Print the decision tables, as ./run answer does."""
    # Imported here: what the report is made with takes longer than all else that is said.
    from copycost.report import decisions_command

    try:
        facts = decisions_command.read_facts(decisions_command.FACTS)
    except DataError as error:
        print(f"copycost: {error}")
    else:
        print("\n".join(["", *decisions_command.answer_lines(facts), ""]))


def say_how_to_go_on() -> None:
    """After an error or an interruption: what is kept, and what to do."""
    print(
        "copycost: stopped before the end; the reason is above, details are in results/logs. "
        "What was measured stays: the same command again goes on from here.",
        file=sys.stderr,
    )
