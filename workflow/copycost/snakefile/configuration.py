"""The configuration as the Snakefile needs it: checked, or the end of the process."""

import os
import sys
from pathlib import Path
from typing import Any

from copycost.build.toolchain import strategies
from copycost.config.check import check_config
from copycost.config.config import Config
from copycost.config.passes import is_given
from copycost.config.problems import Surroundings
from copycost.config.sources import read_sources
from copycost.errors import ConfigError
from copycost.snakefile.internals import given_configuration, is_first_process

# Sends nothing: measures the harness itself, and is no answer to the question of a report.
HARNESS_STRATEGY = "null"

# More CPUs than any host has.
_ANY_CPU = 1 << 16


def checked_config(workflow: Any) -> Config:  # noqa: ANN401
    """Return the configuration, or say everything that is wrong with it and end the process.

    Whether it suits this host is asked where the run begins: a job may run on a smaller one.
    """
    files, words = given_configuration(workflow)
    root = Path(workflow.basedir)
    # nor is anything measured here of another host's results
    first = is_first_process(workflow) and not is_given()
    around = Surroundings(
        strategies=[name for name in strategies(root) if name != HARNESS_STRATEGY],
        usable_cpus=os.sched_getaffinity(0) if first else range(_ANY_CPU),
        memory_bytes=_memory_bytes() if first else sys.maxsize,
    )
    try:
        return check_config(read_sources(files, words), around)
    except ConfigError as error:
        # Snakemake would put its own words and a place in the Snakefile around an exception.
        sys.exit(str(error))


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
