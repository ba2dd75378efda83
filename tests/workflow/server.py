"""Snakemake, imported once for many runs: each is a fork of this process.

Importing takes as long as planning a run. Reads orders from stdin, one line of JSON each: the words
behind ``snakemake``, the folder, the environment, and the files for what is said. Answers each
with its exit code.
"""

import json
import os
import sys

from snakemake.cli import main

for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if child == 0:
        os.chdir(order["folder"])
        os.environ.clear()
        os.environ.update(order["environment"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for fd, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(order[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), fd)
        sys.argv = ["snakemake", *order["words"]]
        sys.exit(main())
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
