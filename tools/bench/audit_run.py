"""How long the audit of a small table takes, from the CSV file to the HTML page."""

import sys
from collections.abc import Iterator
from pathlib import Path

from tools.bench.rows import Limit, Row
from tools.bench.timing import timed

# a published run, of which the project keeps a copy
DATASET = "data/published/i5-10500.csv"

_TIME_LIMIT_S = Limit("at_most", 5)


def audit_rows(project: Path, output: Path) -> Iterator[Row]:
    """Yield the time of auditing a published run and its claims.

    Parameters
    ----------
    output : Path
        Folder that takes the report.

    Raises
    ------
    HostError
        If it fails.
    """
    n_rows = len((project / DATASET).read_text(encoding="utf-8").splitlines()) - 1
    command = [sys.executable, "-m", "copycost", "audit", DATASET]
    run = timed(project, [*command, "--formats", "html", "--output", str(output)])
    yield Row(
        "workflow",
        f"audit of {n_rows} rows to HTML",
        run.wall_s,
        "s",
        limit=_TIME_LIMIT_S,
        note=f"{run.cpu_s:.1f} s of CPU time",
    )
