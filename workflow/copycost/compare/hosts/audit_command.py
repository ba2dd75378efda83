"""The command ``audit``, also on one host of a fleet."""

import argparse
from pathlib import Path

from copycost.compare.audit import command
from copycost.compare.audit.command import add_arguments
from copycost.compare.hosts.host_results import read_set
from copycost.compare.hosts.host_tables import tables_of
from copycost.errors import DataError

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "add_arguments", "run"]

HELP = "judge a table of measurements that somebody else made"

DESCRIPTION = """\
Read a table of measurements, whoever made it: run the analysis of our own reports on it, check
whether the numbers can be measurements, and test what is claimed of them. See docs/audit.md."""

EPILOG = ""


def run(options: argparse.Namespace) -> int:
    """Audit a file, or the host of a folder; return 0 whatever the verdicts are."""
    folder: Path = options.file
    if not folder.is_dir():
        return command.run(options)
    if not (folder / "set.json").is_file():
        raise DataError(f"{folder}: is no host of a fleet; name a folder host=NAME, or a table")
    cells = folder / "cells.csv"
    tables_of(read_set(folder)).cells.to_csv(cells, index=False)
    command.audit_file(cells, output=options.output or folder / "report", formats=options.formats)
    return 0
