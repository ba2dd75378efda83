"""All that is taken from Snakemake's inside, which no version of it promises: as of 9.27.

Nothing else of the package looks into Snakemake's objects, except at jobs and their rules, which
`waiting_jobs` and `all_jobs` give.
"""

import gc
import logging
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, wraps
from importlib import import_module
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any, NoReturn

from copycost.config.passes import is_given
from copycost.errors import CopycostError
from copycost.records.disk import lacks_room
from copycost.snakefile import messages, status_line
from copycost.snakefile.dependencies import SCRIPTS, digest_of_code
from copycost.snakefile.screen import SCREEN


def watch_messages(workflow: Any) -> None:  # noqa: ANN401
    """Look at what Snakemake logs before anybody else does, and say it in our words."""
    first, looks = is_first_process(workflow), is_dry_run(workflow)
    # it shall not speak of jobs, as the default profile says
    quiet = any(one.name in ("RULES", "ALL") for one in workflow.output_settings.quiet or ())
    if looks and quiet:  # what it would say of each job, and what each leaves, takes time
        from snakemake.jobs import Job  # type: ignore[import-untyped]
        from snakemake.scheduling.job_scheduler import JobScheduler  # type: ignore[import-untyped]

        Job.log_info = lambda *_words, **_options: None
        JobScheduler._free_resources = lambda *_: None

    def look_at(record: logging.LogRecord) -> bool:
        global has_nothing_to_do
        if first and not looks and getattr(record, "event", None) == "job_info":
            SCREEN.begin_job(vars(record)["rule_name"], vars(record)["wildcards"])
        if isinstance(record.msg, str):
            if first and record.msg.startswith(messages.PLANNING):
                SCREEN.begin()
            if first and record.msg.startswith(messages.NOTHING):
                has_nothing_to_do = True
                note_the_end(workflow)
            if (message := messages.reworded(record.msg, quiet=quiet)) is None:
                return False
            record.msg = message
        return True

    def look_before(_record: logging.LogRecord) -> bool:
        status_line.clear_line()
        return True

    logger = logging.getLogger("snakemake.logging")
    logger.addFilter(look_at)
    for handler in logger.handlers:
        if isinstance(handler, logging.StreamHandler) and not isinstance(
            handler, logging.FileHandler
        ):
            handler.addFilter(look_before)  # behind its own, which leaves out most messages


def shorten_command_line() -> None:
    """Have an error of the command line said in one line, and nothing of the profile.

    Snakemake shows all its options, 85 lines, before what is wrong with one (``argparse``), and
    says of each start that there is a profile (``snakemake.cli.parse_args``).
    """
    import argparse

    from snakemake import cli  # type: ignore[import-untyped]

    def print_but_the_profile(*words: object, **options: Any) -> None:  # noqa: ANN401
        if not str(words[0] if words else "").endswith("default command line arguments."):
            print(*words, **options)

    def error(self: argparse.ArgumentParser, message: str) -> NoReturn:
        sys.exit(f"run: {message}; ./run help shows what there is")

    argparse.ArgumentParser.error = error  # type: ignore[method-assign]
    say_plainly(ValueError, "run")  # until the Snakefile is read, they are about words
    cli.print = print_but_the_profile


def start_quickly(words: Sequence[str]) -> None:
    """Spare Snakemake what it does at each start, or for each job, and nobody here needs.

    To import packages for solvers and for profiles with arrays, and plugins that write its report
    or run jobs elsewhere, unless `words` ask for them; to walk through all packages for each kind
    of plugin. To take a parameter for a table of pandas (none of ours is), and look for each job
    whether its script is there (it is one of its inputs). To read each of its notes on a file
    several times, and look up the parameters of the same functions for each job. To search for
    garbage among all jobs after every 700 new objects.
    """
    from snakemake_interface_common import plugin_registry
    from snakemake_interface_common.plugin_registry import PluginRegistryBase

    elsewhere = ("-e", "--executor", "--profile", "--slurm")
    some = "SNAKEMAKE_PROFILE" in os.environ or any(word.startswith(elsewhere) for word in words)
    plugins = [
        module
        for module in pkgutil.iter_modules()
        if some or not module.name.startswith("snakemake_executor_plugin_")
    ]
    known = SimpleNamespace(iter_modules=lambda: plugins)
    plugin_registry.pkgutil = known  # type: ignore[attr-defined, assignment]
    with _without("numpy"):
        import_module("yte")
    import yaml

    yaml.FullLoader = yaml.CFullLoader  # type: ignore[misc, assignment]
    with _without("pulp"):
        import snakemake.cli  # type: ignore[import-untyped]
    from snakemake import common, rules
    from snakemake.persistence import PersistenceBase  # type: ignore[import-untyped]
    from snakemake.persistence.file import FilePersistence  # type: ignore[import-untyped]
    from snakemake_interface_report_plugins import (  # type: ignore[import-untyped]
        registry,
    )

    if not any(word.startswith("--report") for word in words):
        registry.ReportPluginRegistry.collect_plugins = PluginRegistryBase.collect_plugins
    params_of = common.get_function_params
    known_params = lru_cache(params_of)

    def get_function_params(function: Callable[..., object]) -> Any:  # noqa: ANN401
        return (known_params if isinstance(function, FunctionType) else params_of)(function)

    common.get_function_params = rules.get_function_params = get_function_params
    snakemake.dag.ScriptProcessor.process_job = lambda *_: None
    snakemake.jobs.Job.conda_env_spec = None
    PersistenceBase._serialize_param_pandas = PersistenceBase._serialize_param_builtin
    read_note = FilePersistence._read_record_cached.__wrapped__
    FilePersistence._read_record_cached = lru_cache(maxsize=None)(read_note)
    gc.set_threshold(100_000, 50, 100)


@contextmanager
def _without(name: str) -> Iterator[None]:
    """Have a package be found nowhere, as where it is not installed."""
    before = sys.modules.get(name)
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before


is_done = False
"""Whether a run came to its end, and what it measured is this host's."""
has_nothing_to_do = False
"""Whether Snakemake has said that everything is there."""
met_full_disk = False
"""Whether an error that Snakemake said comes from a disk that was full."""


def note_the_end(workflow: Any) -> None:  # noqa: ANN401
    """Note that a run has come to its end."""
    global is_done
    is_done = not is_dry_run(workflow) and not is_given()


def say_plainly(kind: type[Exception], name: str) -> None:
    """Have errors of one kind, and no other any more, said in their own words behind a name.

    Snakemake would add where in the Snakefile that was, and a traceback (``print_exception``).
    """
    from snakemake import exceptions

    said_so_far = exceptions.format_exception_to_string
    as_usual = getattr(said_so_far, "__wrapped__", said_so_far)

    @wraps(as_usual)
    def in_words(error: BaseException, linemaps: object = None) -> str:
        global met_full_disk
        met_full_disk = met_full_disk or lacks_room(error)
        said: BaseException | None = error
        while isinstance(said, (exceptions.WorkflowError, exceptions.RuleException)):
            said = said.__cause__ or said.__context__
        return f"{name}: {said}" if isinstance(said, kind) else as_usual(error, linemaps)

    exceptions.format_exception_to_string = in_words


def run_scripts_with(run: Callable[[str], int | None]) -> None:
    """Have somebody else run the scripts of jobs (``PythonScript.execute_script``).

    `run` takes the path of a script, which holds what Snakemake hands to it, and returns its exit
    status; None where Snakemake shall start it as usual.
    """
    from snakemake.script import PythonScript  # type: ignore[import-untyped]

    as_usual = PythonScript.execute_script

    def execute_script(self: Any, fname: str, edit: bool = False) -> None:  # noqa: ANN401
        elsewhere = (self.container_img, self.conda_env, self.env_modules, self.bench_record)
        status = run(fname) if all(one is None for one in elsewhere) else None
        if status is None:
            as_usual(self, fname, edit)
        elif status != 0:  # it has said why
            name = Path(fname).stem.rpartition(".")[2]  # a random word is in front
            raise CopycostError(f"{name} failed (exit status {status})")

    PythonScript.execute_script = execute_script


def keep_the_scheduler_still(workflow: Any) -> None:  # noqa: ANN401
    """Take Snakemake's limit on jobs per second away, once the scheduler exists (``onstart``).

    Under that limit each job starts a timer that wakes the scheduler, and each waking starts the
    next (``JobScheduler._schedule_reevalutation``): after 300 jobs it wakes 300 times a second, and
    takes a third of a CPU beside what is measured.
    """
    workflow.scheduler.job_rate_limiter = None


def is_dry_run(workflow: Any) -> bool:  # noqa: ANN401
    """Return whether this only shows what a run would do."""
    return bool(workflow.output_settings.dryrun)


def is_first_process(workflow: Any) -> bool:  # noqa: ANN401
    """Return whether this is what the user started, not a job that it started elsewhere."""
    return bool(workflow.is_main_process)


def given_configuration(workflow: Any) -> tuple[list[str], Mapping[str, Any]]:  # noqa: ANN401
    """Return the configuration files, in the order of their reading, and what ``--config`` says."""
    settings = workflow.config_settings
    over = list(getattr(settings, "configfiles", ()))  # which the workflow lists first, too
    files = [*(file for file in workflow.configfiles if file not in over), *over]
    return files, getattr(settings, "config", {})


def take_code_into_account(workflow: Any) -> None:  # noqa: ANN401
    """Let the content of the rules' scripts, and of all that these import, decide what is redone.

    Snakemake itself only looks whether a script is newer than what it made: after a change of
    branch and back, which leaves new times, everything would be measured again. The default profile
    switches that trigger (code) off. The script is an input, compared by content; the modules are a
    digest, since Snakemake takes seconds to look at thousands of inputs. A rule that measures
    states its own.
    """
    for rule in workflow.rules:
        if not rule.script:
            continue
        script = str(SCRIPTS / Path(rule.script).name)
        if rule.input_modifier is None:  # a rule that states no input has none either
            rule.input_modifier = workflow.modifier.path_modifier
        rule.set_input(script=[script])
        if "code" not in rule.params.keys():  # noqa: SIM118 - it is no mapping
            rule.set_params(code=digest_of_code(workflow.basedir, script))


def forget_rules(workflow: Any, names: Sequence[str]) -> None:  # noqa: ANN401
    """Let there be no such rules: what they make is there, or is missed.

    Where there is a checkpoint, Snakemake does not heed ``--allowed-rules``.
    """
    for name in names:
        workflow._rules.pop(name)


def all_jobs(workflow: Any) -> list[Any]:  # noqa: ANN401
    """Return the jobs behind what was asked for, also those that were done before."""
    return [] if workflow.dag is None else list(workflow.dag.jobs)


def waiting_jobs(workflow: Any) -> list[Any]:  # noqa: ANN401
    """Return the jobs that will be done; targets do nothing."""
    if workflow.dag is None:
        return []
    # A dry run counts its jobs as finished once it has shown them.
    waiting = workflow.dag.needrun_jobs(exclude_finished=False)
    return [job for job in waiting if not job.is_norun]


def reasons(workflow: Any, job: Any) -> list[str]:  # noqa: ANN401
    """Return why Snakemake does a job: ``missing output files``, ``params have changed ...``."""
    return list(workflow.dag.reason(job).get_names())
