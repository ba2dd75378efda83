"""What the Snakefile does besides declaring rules.

Everything taken from Snakemake's inside is used here and in `copycost.snakefile.announcements`.
"""

import fcntl
import json
import logging
import os
import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from copycost.build.toolchain import source_digest, strategies
from copycost.config.config import Config
from copycost.config.refined import added_paths, read_added
from copycost.config.rules import Surroundings
from copycost.config.sources import resolve
from copycost.errors import ConfigError
from copycost.snakefile.dependencies import code_of
from copycost.snakefile.targets import is_asked_for, reworded

HOST_PATH = Path("results/host.json")
LOCK_PATH = Path(".snakemake/copycost.lock")

# Sends nothing: measures the harness itself, and is no answer to the question of a report.
HARNESS_STRATEGY = "null"

# What Snakemake says for every single job, even when told to be quiet about jobs.
_CHATTER = ("Select jobs to execute", "Execute ", "Using shell", "Assuming unrestricted")


def let_scripts_import_from(folder: str) -> None:
    """Let the rules' scripts, which are processes of their own, import this package first."""
    others = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = f"{folder}{os.pathsep}{others}" if others else folder


def let_scripts_start_from_any_folder() -> None:
    """Have Snakemake start scripts although there is a space, say, in the path of the interpreter.

    It puts that path into a shell's command line as it is (``PythonScript.execute_script``, 9.27).
    """
    sys.executable = shlex.quote(sys.executable)


def end_with_the_reader() -> None:
    """End on the first line that nobody reads (``snakemake | head``), as other commands do.

    Python turns that signal into an exception, which Snakemake's scheduler does not survive: it
    would wait for ever for a job whose end it could not print.
    """
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def speak_plainly() -> None:
    """Keep what Snakemake says of its own work from burying results, and reword what is obscure."""

    def look_at(record: logging.LogRecord) -> bool:
        if isinstance(record.msg, str):
            record.msg = reworded(record.msg)
        return not str(record.msg).startswith(_CHATTER)

    logging.getLogger("snakemake.logging").addFilter(look_at)


def is_chapter(config: Config, study: str) -> bool:
    """Return whether a study with a section of its own is a chapter of the report.

    It is where the section is enabled, where it is asked for by name beside the report, and once it
    was measured: the report has all parts that were measured.
    """
    enabled: bool = getattr(config, study).enabled
    measured = Path(f"results/{study}/facts.json").is_file()
    return enabled or measured or is_asked_for(study)


def keep_the_scheduler_still(workflow: Any) -> None:  # noqa: ANN401
    """Take Snakemake's limit on jobs per second away, once the scheduler exists (``onstart``).

    Under that limit each job starts a timer that wakes the scheduler, and each waking starts the
    next (``JobScheduler._schedule_reevalutation``, 9.27): after 300 jobs it wakes 300 times a
    second, and takes a third of a CPU beside what is measured.
    """
    workflow.scheduler.job_rate_limiter = None


def with_added_records(paths: list[str], checkpoints: Any, config: Config) -> Any:  # noqa: ANN401
    """Return records as a rule's input: `paths`, and those of added cells once they are known.

    Parameters
    ----------
    paths
        The records of the grid.
    checkpoints
        Snakemake's; asking it for the added cells has Snakemake wait until they are chosen.
    """
    if not config.refine.enabled:
        return paths

    def with_added(_wildcards: object) -> list[str]:
        chosen = Path(checkpoints.choose_sizes.get().output.added)
        added = added_paths(read_added(chosen), config)
        return list(dict.fromkeys([*paths, *added]))

    return with_added


def digest_of(paths: Sequence[str]) -> str:
    """Return the SHA-256 over the names and contents of files, in hexadecimal digits."""
    return source_digest([Path(path) for path in paths], Path())


def take_code_as_input(workflow: Any) -> None:  # noqa: ANN401
    """Let the content of the rules' scripts, and of all that these import, decide what is redone.

    Snakemake itself only looks whether a script is newer than what it made: after a change of
    branch and back, which leaves new times, everything would be measured again. The default profile
    switches that trigger (code) off. A rule that measures states its code as a parameter, since an
    edit there measures again; of it only the script is an input.
    """
    for rule in workflow.rules:
        if not rule.script:
            continue
        script = f"workflow/scripts/{Path(rule.script).name}"
        if rule.input_modifier is None:  # a rule that states no input has none either (9.27)
            rule.input_modifier = workflow.modifier.path_modifier
        measures = "code" in rule.params.keys()  # noqa: SIM118 - it is no mapping
        rule.set_input(script=[script] if measures else code_of(workflow.basedir, script))


def checked_config(workflow: Any, config: Mapping[str, Any]) -> Config:  # noqa: ANN401
    """Return the configuration, or say everything that is wrong with it and end the process."""
    settings = workflow.config_settings
    files = [*workflow.configfiles, *getattr(settings, "configfiles", ())]
    root = Path(workflow.basedir)
    around = Surroundings(
        strategies=[name for name in strategies(root) if name != HARNESS_STRATEGY],
        usable_cpus=os.sched_getaffinity(0),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    )
    try:
        return resolve(config, files, getattr(settings, "config", {}), around)
    except ConfigError as error:
        # Snakemake would put its own words and a place in the Snakefile around an exception.
        sys.exit(str(error))


def forget_another_host(workflow: Any, identity: Mapping[str, Any]) -> None:  # noqa: ANN401
    """Where this is not the host of the last run, say so, and have it described afresh.

    Every cell depends on the description, so all are measured again. Snakemake sees the same by the
    parameters of the rule, but not where results came from elsewhere without its notes on them;
    a description that is gone is made again in any case.
    """
    try:
        known = json.loads(HOST_PATH.read_text(encoding="utf-8"))["identity"]
    except (OSError, ValueError, KeyError, TypeError):
        return  # no earlier run, or a file that the rule has to write again anyway
    changes = "; ".join(host_changes(known, identity))
    if changes:
        text = f"this is not the host of the earlier results ({changes}), so every cell is measured"
        print(f"copycost: {text} again.", file=sys.stderr)
        if not workflow.output_settings.dryrun:
            HOST_PATH.unlink()


def host_changes(known: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return what tells two host identities apart: ``kernel_release was 6.1, is 6.12``."""
    changes = []
    for name in sorted(known.keys() | now.keys()):
        before, after = known.get(name), now.get(name)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            changes += [f"{name}.{change}" for change in host_changes(before, after)]
        elif before != after:
            changes.append(f"{name} was {_short(before)}, is {_short(after)}")
    return changes


def _short(value: object) -> str:
    text = "unknown" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def claim_folder() -> None:
    """Keep other runs out of this folder until this process ends, however it ends.

    Snakemake's own lock is a file that a killed run leaves behind, and that has to be removed by
    hand; the kernel gives this one back. The default profile switches Snakemake's off.
    """
    LOCK_PATH.parent.mkdir(exist_ok=True)
    fd = os.open(LOCK_PATH, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)  # stays open to the end
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(fd, 20).decode().strip()
        sys.exit(
            f"copycost: another run is at work in this folder (process {holder}); "
            "let it end, or use another clone"
        )
    os.ftruncate(fd, 0)
    os.write(fd, f"{os.getpid()}\n".encode())
