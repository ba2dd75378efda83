"""The configuration as the Snakefile needs it: checked, or the end of the process."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from copycost.build.toolchain import strategies
from copycost.config.config import Config
from copycost.config.rules import Surroundings
from copycost.config.sources import resolve
from copycost.errors import ConfigError
from copycost.snakefile.internals import given_configuration

# Sends nothing: measures the harness itself, and is no answer to the question of a report.
HARNESS_STRATEGY = "null"


def checked_config(workflow: Any, config: Mapping[str, Any]) -> Config:  # noqa: ANN401
    """Return the configuration, or say everything that is wrong with it and end the process."""
    files, words = given_configuration(workflow)
    root = Path(workflow.basedir)
    around = Surroundings(
        strategies=[name for name in strategies(root) if name != HARNESS_STRATEGY],
        usable_cpus=os.sched_getaffinity(0),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    )
    try:
        return resolve(config, files, words, around)
    except ConfigError as error:
        # Snakemake would put its own words and a place in the Snakefile around an exception.
        sys.exit(str(error))
