"""The command ``audit`` on a folder: a fleet, host by host, or one host of it in full."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from copycost.analysis.json_values import Facts
from copycost.audit import command
from copycost.audit.command import add_arguments
from copycost.audit.wording import fill
from copycost.compare.hosts.gathering import gather
from copycost.compare.hosts.host_results import read_set
from copycost.compare.hosts.host_tables import tables_of
from copycost.wording.words import one_line

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "add_arguments", "run", "verdict_of"]

HELP = "judge a table of measurements that somebody else made"

DESCRIPTION = """\
Read a table of measurements, whoever made it: run the analysis of our own reports on it, check
whether the numbers can be measurements, and test what is claimed of them. See docs/audit.md."""

EPILOG = ""


def run(options: argparse.Namespace) -> int:
    """Audit a file, or the hosts of a folder; return 0 whatever the verdicts are."""
    folder: Path = options.file
    if not folder.is_dir():
        return command.run(options)
    if (folder / "set.json").is_file():
        cells = folder / "cells.csv"
        tables_of(read_set(folder)).cells.to_csv(cells, index=False)
        output = options.output or folder / "report"
        command.audit_file(cells, output=output, formats=options.formats)
        return 0
    fleet = gather(folder)
    for one in fleet.sets:
        findings = fleet.tables[one.name].findings
        said = verdict_of(one.name, fleet.one_kernel.get(one.name), findings)
        print(f"{one.name}: {said}")
    for name, why in fleet.unreadable.items():
        print(f"{name}: left out of every mean, since it cannot be read any more ({why})")
    return 0


def verdict_of(name: str, same_as: str | None, findings: Sequence[Facts]) -> str:
    """Return in a line whether a host's numbers can be measurements."""
    refuting = [one for one in findings if one["refutes"]]
    text = fill("fleet_audit.txt.j2", name=name, same_as=same_as, refuting=refuting,
                n_more=len(findings) - len(refuting))  # fmt: skip
    return one_line(text)
