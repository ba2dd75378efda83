"""What Snakemake's process is given before anything else: where scripts import from, how it ends.

All of it concerns this process and its children alone, so the Snakefile may do it whenever it is
read, which jobs that run elsewhere do too.
"""

import os
import signal
from collections.abc import Mapping
from typing import Any

from copycost.errors import CopycostError
from copycost.snakefile import internals, interruption, messages, terminal
from copycost.snakefile.screen import SCREEN
from copycost.snakefile.script_starter import ScriptStarter


def prepare_process(workflow: Any, package_root: str) -> None:  # noqa: ANN401
    """Make this process ready to run the rules' scripts, and to say what they say."""
    _let_scripts_import_from(package_root)
    _end_with_the_reader()
    internals.quote_interpreter()
    internals.say_plainly(CopycostError, "copycost")
    if internals.is_first_process(workflow):  # a job that runs elsewhere is one script
        interruption.end_quietly(line=interruption.LINE)
        internals.run_scripts_with(ScriptStarter().run)
    _watch(workflow)


def _watch(workflow: Any) -> None:  # noqa: ANN401
    """Follow what Snakemake does by what it logs, and say it in our words."""
    first, quiet = internals.is_first_process(workflow), internals.is_quiet(workflow)
    looks = internals.is_dry_run(workflow)
    if looks and quiet:
        internals.show_no_jobs()

    def reworded(message: str) -> str | None:
        if first and message.startswith(messages.PLANNING):
            SCREEN.begin()
        return messages.reworded(message, quiet=quiet)

    def begin_job(rule: str, wildcards: Mapping[str, str]) -> None:
        if first and not looks:
            SCREEN.begin_job(rule, wildcards)

    internals.watch_messages(reworded, begin_job, before_showing=terminal.clear_line)


def _let_scripts_import_from(folder: str) -> None:
    """Let the rules' scripts, which are processes of their own, import this package first."""
    others = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = f"{folder}{os.pathsep}{others}" if others else folder


def _end_with_the_reader() -> None:
    """End on the first line that nobody reads (``snakemake | head``), as other commands do.

    Python turns that signal into an exception, which Snakemake's scheduler does not survive: it
    would wait for ever for a job whose end it could not print.
    """
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
