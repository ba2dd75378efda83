"""How long tables and report over many hosts take, on a simulated fleet."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from copycost.compare.hosts import report
from copycost.compare.hosts.gathering import Fleet, gather
from copycost.compare.hosts.host_facts import told_by
from copycost.compare.hosts.host_results import read_sets
from copycost.compare.hosts.host_tables import all_tables
from copycost.compare.hosts.import_archive import read_parcel
from tools.bench.rows import Limit, Row
from tools.bench.timing import timed
from tools.simulate_fleet import make_fleet

_TIME_LIMIT_S = Limit("at_most", 60)
_MEMORY_LIMIT_MB = Limit("at_most", 2000)
N_HOSTS, N_RECORDS = 200, 400


def fleet_rows(project: Path) -> Iterator[Row]:
    """Yield time and memory of the audited tables and the report of a fleet, simulated from a run.

    Parameters
    ----------
    project : Path
        A project with the results of a run, which the simulated hosts are made of.

    Raises
    ------
    HostError
        If it fails.
    """
    with tempfile.TemporaryDirectory(prefix="copycost-fleet-") as folder:
        for _ in make_fleet(read_parcel(project), Path(folder), N_HOSTS, N_RECORDS):
            pass
        sets = read_sets(Path(folder))
        n_records = sum(one.n_records for one in sets)
        what = f"of {n_records} records of {len(sets)} simulated hosts"
        for step, limit in (("tables", _TIME_LIMIT_S), ("report", None)):
            run = timed(project, [sys.executable, "-m", "tools.bench.fleet_run", step, folder])
            note = f"{run.cpu_s:.1f} s of CPU time"
            yield Row("workflow", f"{step} {what}", run.wall_s, "s", limit=limit, note=note)
            yield Row("workflow", f"{step} {what}, memory", run.peak_bytes / 1e6, "MB",
                      limit=_MEMORY_LIMIT_MB, note="of the largest process")  # fmt: skip


def main(step: str, folder: Path) -> None:
    """Make the tables of a fleet and audit its hosts, or write the report over them."""
    sets = read_sets(folder)
    if step == "tables":
        names = [one.name for one in sets]
        tables = dict(zip(names, all_tables(sets), strict=True))
        told = {one.name: told_by(one) for one in sets}
        report.write_tables(Fleet(sets, names, {}, tables, told, {}), folder)
    else:
        facts = report.write_tables(gather(folder), folder)
        report.write_report(facts, folder, ["html"])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
