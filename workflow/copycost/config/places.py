"""Prints what `./run fleet` is about, ``local`` or ``slurm`` or both: ``python -m ... FILE...``."""

import sys

from copycost.config.problems import DEFAULTS
from copycost.config.sources import USER_FILE, merged, read_sources
from copycost.errors import ConfigError

if __name__ == "__main__":
    try:
        hosts = merged(read_sources([DEFAULTS, USER_FILE, *sys.argv[1:]], {}))["hosts"]
        print(*hosts["where"])  # checked where the workflow begins
    except (ConfigError, KeyError, TypeError) as error:
        sys.exit(f"copycost: {error}")
