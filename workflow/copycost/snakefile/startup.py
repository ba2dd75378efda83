"""What Snakemake's process is given at first: where scripts import from, how it ends, what to do.

All of it concerns this process and its children alone, so the Snakefile may do it whenever it is
read, which jobs that run elsewhere do too.
"""

import logging
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

from copycost.build.toolchain import strategies
from copycost.config.check import check_config
from copycost.config.config import Config
from copycost.config.passes import is_given
from copycost.config.sources import Surroundings, read_sources
from copycost.errors import ConfigError, CopycostError
from copycost.snakefile import internals, interruption
from copycost.snakefile.screen import SCREEN
from copycost.snakefile.script_starter import ScriptStarter

# Sends nothing: measures the harness itself, and is no answer to the question of a report.
HARNESS_STRATEGY = "null"

# More CPUs than any host has.
_ANY_CPU = 1 << 16


def prepare_process(workflow: Any, package_root: str) -> None:  # noqa: ANN401
    """Make this process ready to run the rules' scripts, and to say what they say."""
    # the scripts, which are processes of their own, import this package first
    paths = filter(None, (package_root, os.environ.get("PYTHONPATH")))
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    # End on the first line that nobody reads (`snakemake | head`), as other commands do. Python
    # turns that signal into an exception, which Snakemake's scheduler does not survive: it would
    # wait for ever for a job whose end it could not print.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    logging.raiseExceptions = False  # a line that its log has no room for is no news
    # Snakemake puts it into a shell's command line as it is; there may be a space in its path
    sys.executable = shlex.quote(sys.executable)
    internals.say_plainly(CopycostError, "copycost")
    if internals.is_first_process(workflow):  # a job that runs elsewhere is one script
        interruption.end_quietly(line=interruption.LINE)
        internals.run_scripts_with(ScriptStarter(SCREEN.hear).run)
    internals.watch_messages(workflow)


def checked_config(workflow: Any) -> Config:  # noqa: ANN401
    """Return the configuration, or say everything that is wrong with it and end the process.

    Whether it suits this host is asked where the run begins: a job may run on a smaller one.
    """
    files, words = internals.given_configuration(workflow)
    root = Path(workflow.basedir)
    # nor is anything measured here of another host's results
    first = internals.is_first_process(workflow) and not is_given()
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    around = Surroundings(
        strategies=[name for name in strategies(root) if name != HARNESS_STRATEGY],
        usable_cpus=os.sched_getaffinity(0) if first else range(_ANY_CPU),
        memory_bytes=memory_bytes if first else sys.maxsize,
    )
    try:
        return check_config(read_sources(files, words), around)
    except ConfigError as error:
        # Snakemake would put its own words and a place in the Snakefile around an exception.
        sys.exit(str(error))
