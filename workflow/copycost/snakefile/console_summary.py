"""What a run says before its first job and after its last; `screen` says the rest."""

import atexit
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from copycost.config.checkout import ROOT
from copycost.config.config import Config
from copycost.config.grid import Grid
from copycost.config.passes import is_given
from copycost.errors import DataError
from copycost.records.files import LOST, read_json
from copycost.records.reading import REMEDY
from copycost.snakefile import before_run, internals, interruption, messages, retry, slurm
from copycost.snakefile.internals import (
    all_jobs,
    is_dry_run,
    is_first_process,
    reasons,
    waiting_jobs,
)
from copycost.snakefile.jobs import (
    CHOOSING_RULE,
    EXPECTED_S,
    GRID_RULE,
    HOST_RULE,
    MEASURING_RULES,
    NODE_RULE,
    REPORTING_RULE,
    kind_of,
    repetition_s,
)
from copycost.snakefile.outcomes import MEMORY_PATH, outcomes
from copycost.snakefile.placeholder_outputs import left_out
from copycost.snakefile.progress import Progress, format_duration
from copycost.snakefile.screen import SCREEN
from copycost.snakefile.status_line import clear_line, say
from copycost.wording.words import plural


def print_plan(workflow: Any, config: Config) -> None:  # noqa: ANN401
    """Before the first job: how many repetitions will be measured, and how long that takes."""
    if interruption.happened:
        interruption.end()  # what Snakemake was doing then has swallowed it
    _say_plan(workflow, config, would=False)


def print_dry_run(workflow: Any, config: Config) -> None:  # noqa: ANN401
    """At the end of a dry run, or where there is nothing to do, say what there is to say.

    Snakemake has no hook for these.
    """

    def at_end() -> None:
        SCREEN.end()
        if interruption.happened:
            return
        has_jobs = bool(waiting_jobs(workflow))
        if is_dry_run(workflow) or not has_jobs:  # else it was said at the start
            _say_plan(workflow, config, would=True)
        if internals.has_nothing_to_do and not has_jobs:
            print_outcome(workflow, config)

    if is_first_process(workflow):
        atexit.register(at_end)


def _say_plan(workflow: Any, config: Config, *, would: bool) -> None:  # noqa: ANN401
    """Say what a run does, or would do, and how long that takes; let it be counted if it does."""
    jobs = waiting_jobs(workflow)
    _say_the_host_changed(workflow, jobs)
    if not jobs:
        return
    measuring = _measuring(jobs)
    now = _progress(jobs)
    least_s = now.left_s(now.started_s)
    may_follow, most_s = _ahead(now, config)
    if not would:
        now.ahead_s = most_s / 2
        SCREEN.how_far = now
    limits_min = {
        job.wildcards_dict["node"]: job.resources["runtime"]
        for job in jobs
        if job.rule.name == NODE_RULE
    }
    if limits_min:
        limit_min = max(limits_min.values())
        say(slurm.said_of_nodes(config, sorted(limits_min), limit_min, would=would))
    least, most = format_duration(least_s), format_duration(least_s + most_s)
    whole = most if least == most else f"{least} to {most}"
    takes = f"which takes about {format_duration(now.measuring_s)}"
    measured = f"{plural(now.total, 'repetition')}, {takes}"
    if would and not limits_min:
        n_others = plural(len(jobs) - len(measuring), "other job")
        others = f"do {n_others} (programs, tables, figures, report):"
        does = f"measure {measured}, and {others} all in all"
        does = does if now.total else f"measure nothing and {others}"
        say(f"copycost: a run would {does} about {whole}.")
    elif not would and _measuring(all_jobs(workflow)):  # else it is an audit, say
        does = "no repetition needs measuring; what was measured is still valid. The rest takes"
        does = f"measuring {measured}; all in all" if now.total else does
        say(f"copycost: {does} about {whole}.")
    if would:
        _say_why(workflow, measuring)
    if may_follow:
        say(may_follow)
    grids = (config.streams, config.udp, config.round_trips)
    counts = {n for grid in grids if grid.implementations for n in grid.n_threads}
    n_cpus = len(os.sched_getaffinity(0))
    above = sorted(n for n in counts if n > n_cpus)
    if above and GRID_RULE in {job.rule.name for job in jobs}:
        say(
            f"copycost: {plural(n_cpus, 'CPU')} for {', '.join(map(str, above))} threads at "
            "each side: they share the CPUs, which is part of what is measured."
        )


def _ahead(planned: Progress, config: Config) -> tuple[str, float]:
    """Return what may follow the repetitions of the grid, a sentence, and how long at most [s].

    Nothing where nothing chooses it.
    """
    measure = config.measure
    if CHOOSING_RULE not in planned.counts or measure.minutes is None:
        return "", 0.0
    window_s = measure.warmup_s + measure.duration_s
    each_s = repetition_s(GRID_RULE, "", window_s, in_turns=True)
    grid = Grid.of(config)
    time_s, first_s = 60.0 * measure.minutes, grid.n_repetitions(config) * each_s
    stated = f"{measure.minutes:g} min" if time_s >= 60.0 else format_duration(time_s)
    if grid.rounds == 1:
        return (
            f"copycost: {stated} is enough for one repetition of every cell, which takes about "
            f"{format_duration(first_s)} and gives no intervals: shorten the lists, or allow "
            f"{format_duration(2 * first_s)} or more.",
            0.0,
        )
    more_s = max(time_s - first_s, 0.0)
    return (
        f"copycost: up to {plural(int(more_s / each_s), 'more repetition')}, about "
        f"{format_duration(more_s)}, may follow where comparisons are open: the time is {stated}.",
        more_s,
    )


def _say_why(workflow: Any, measuring: list[Any]) -> None:  # noqa: ANN401
    """Say of repetitions that were measured before why a run would measure them again."""
    again = [job for job in measuring if Path(str(job.output.record)).is_file()]
    why: Counter[str] = Counter()
    for job in again:
        for cause in {_REASONS.get(one, one) for one in reasons(workflow, job)}:
            why[cause] += _n_measured(job)
    if again:
        causes = ", ".join(f"{cause} ({n:,})" for cause, n in why.most_common())
        n_again = sum(map(_n_measured, again))
        say(f"copycost: {n_again:,} of them were measured before; again because {causes}.")


def _n_measured(job: Any) -> int:  # noqa: ANN401
    """Return how many repetitions a job measures."""
    return int(job.params.get("repetitions", 1))


# Snakemake's words for why a job is done, in those of a repetition.
_REASONS = {
    "params have changed since last execution": "their settings or the code that measures changed",
    "updated input files": "their program or this host's description changed",
    "input files updated by another job": "their program or this host's description is remade",
    "set of input files has changed since last execution": "they need different files",
    "incomplete output files": "they were interrupted",
    "forced": "that was asked for",
}


def _say_the_host_changed(workflow: Any, jobs: list[Any]) -> None:  # noqa: ANN401
    """Say where the results are of another host, and end a run that would mix the two."""
    if not any(job.rule.name == HOST_RULE for job in all_jobs(workflow)):
        return  # nothing here is about a host
    described_anew = any(job.rule.name == HOST_RULE for job in jobs)
    measures, would = bool(_measuring(jobs)), is_dry_run(workflow)
    said = before_run.remark_on_host(described_anew=described_anew, measures=measures, would=would)
    if said is None:
        return
    clear_line()
    if measures and not described_anew and not would:
        sys.exit(said)
    print(said, file=sys.stderr)


def _measuring(jobs: Sequence[Any]) -> list[Any]:
    """Return those jobs that measure a repetition."""
    return [job for job in jobs if job.rule.name in MEASURING_RULES]


def _progress(jobs: Sequence[Any]) -> Progress:
    """Return how long jobs will take, none of which has begun."""
    counts: Counter[str] = Counter()
    each_s = {}
    for job in jobs:
        rule, wildcards = job.rule.name, job.wildcards_dict
        kind = kind_of(rule, wildcards)
        if rule in EXPECTED_S:
            each_s[rule] = EXPECTED_S[rule]
            counts[rule] += 1
        elif rule in MEASURING_RULES:
            counts[kind] += _n_measured(job)
            if kind not in each_s:
                settings = job.params.settings  # the same for all of a kind
                window_s = settings["warmup_s"] + settings["duration_s"]
                in_turns = bool(job.params.get("reference"))
                testbed = wildcards["testbed"]
                each_s[kind] = repetition_s(rule, testbed, window_s, in_turns=in_turns)
    return Progress(dict(counts), each_s, time.monotonic())


def print_outcome(workflow: Any, config: Config) -> None:  # noqa: ANN401
    """After the last job: how many repetitions there are, what was lost, where the report is."""
    SCREEN.end()
    internals.note_the_end(workflow)
    jobs = all_jobs(workflow)
    asked = {Path(job.output.record): _n_measured(job) for job in _measuring(jobs)}
    found = outcomes([*asked, Path(MEMORY_PATH)])
    if asked:
        say(f"copycost: {retry.summarise(found, sum(asked.values()))}.")
    for one in found:
        if str(one.reason).startswith(LOST):
            say(f"copycost: {retry.describe(one.path)}: {one.reason}; {REMEDY}.")
    missing = {name: why for one in left_out().values() for name, why in one.items()}
    for name, why in missing.items():
        say(f"copycost: the report lacks {name}: {why}; the next run adds it.")
    rules = {job.rule.name for job in jobs}
    if REPORTING_RULE in rules:
        say(_the_answer())
        place = "results/report"
        if is_given():  # seen from the clone, of which another host's folder is a part
            place = os.path.relpath(place, (ROOT / "workflow").resolve().parent)
        reports = [f"{place}/report.{name}" for name in config.report.formats]
        say(f"copycost: the report is {' and '.join(reports)}{_typeset_by()}")
    else:
        for study in messages.STUDIES:
            if study in rules:
                say(
                    f"copycost: {study}: tables are in results/tables, figures in "
                    f"results/figures/{study}; `./run {study} report` adds it to the report."
                )


def _typeset_by() -> str:
    """Return what typeset the report, ``, typeset by Quarto 1.9.38``, where that is known."""
    try:
        made = read_json("results/report/typesetters.json")
    except (OSError, ValueError):
        return ""
    by = sorted(set(made.values()))
    told = by if len(by) == 1 else [f"{by} ({kind.upper()})" for kind, by in made.items()]
    return f", typeset by {' and '.join(told)}"


def _the_answer() -> str:
    """Return the answer, as ./run answer prints it."""
    # Imported here: what the report is made with takes longer than all else that is said.
    from copycost.report.decisions_command import FACTS, brief_lines, read_facts

    try:
        return "\n".join(brief_lines(read_facts(FACTS)))
    except DataError as error:
        return f"copycost: {error}"


def print_remedy() -> None:
    """After an error: what is kept, and what to do; after an interruption that was said."""
    SCREEN.end()
    if interruption.happened:
        interruption.end()
    print(
        "copycost: stopped before the end; the reason is above, details are in results/logs. "
        "What was measured is kept: the same command continues from here.",
        file=sys.stderr,
    )
