"""Steps of the workflow over many records: ``python -m tools.bench.steps STEP FOLDER``.

Each imports what it needs and no more, since the time and the memory of all of it are told.
"""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path


def make_tables(folder: Path) -> None:
    """Make the tables of all records below a folder."""
    from copycost.records.table import collect_tables

    records = sorted(folder.glob("results/raw/**/*.json"))
    collect_tables(records, folder / "cells.csv", folder / "cells.parquet")


def analyse(folder: Path) -> None:
    """Make summary, comparisons, facts and text of the cells table in a folder."""
    import yaml

    from copycost.analysis.columns import write_table
    from copycost.analysis.quality_table import quality_table
    from copycost.analysis.stats.settings import StatisticsSettings
    from copycost.analysis.tables import compare, summarise
    from copycost.config.checkout import ROOT
    from copycost.records.files import write_json
    from copycost.records.table import read_table
    from copycost.report.write import Sources, write_report
    from copycost.studies.streams.facts import Inputs, compute_facts

    cells = read_table(folder / "cells.parquet")
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    settings = StatisticsSettings(**config["statistics"])
    summary, ratios = summarise(cells, settings), compare(cells, settings)
    write_table(summary, folder / "summary.csv")
    write_table(ratios, folder / "ratios.csv")
    write_table(quality_table(cells), folder / "quality.csv")
    host = json.loads((folder / "host.json").read_text(encoding="utf-8"))
    write_json(compute_facts(Inputs(cells, summary, ratios, host, config)), folder / "facts.json")
    sources = Sources(
        facts=folder / "facts.json",
        figures=[],
    )
    write_report(sources, ROOT / "report", "Many cells", folder / "report.qmd")


def make_fleet_tables(folder: Path) -> None:
    """Make the tables of a fleet and audit its hosts."""
    from copycost.compare.hosts import report
    from copycost.compare.hosts.fleet import gather

    report.write_tables(gather(folder), folder)


def report_fleet(folder: Path) -> None:
    """Write the report over a fleet with tables."""
    from copycost.compare.hosts.report import write_report
    from copycost.records.files import read_json

    write_report(read_json(folder / "facts.json"), folder, ["html"])


STEPS: Mapping[str, Callable[[Path], None]] = {
    "tables": make_tables,
    "analysis": analyse,
    "fleet_tables": make_fleet_tables,
    "fleet_report": report_fleet,
}

if __name__ == "__main__":
    STEPS[sys.argv[1]](Path(sys.argv[2]))
