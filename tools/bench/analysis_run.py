"""The way from tables to text over many records, in a process of its own.

``python -m tools.bench.analysis_run FOLDER`` reads FOLDER/cells.parquet, host.json and
config.yaml, and writes summary, comparisons, facts and the report's text beside them.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from copycost.analysis.columns import write_table
from copycost.analysis.quality_table import quality_table
from copycost.analysis.tables import compare, summarise
from copycost.records.files import write_json
from copycost.records.table import read_table
from copycost.report.context import Sources
from copycost.report.write import write_report
from copycost.stats.settings import StatisticsSettings
from copycost.studies.streams.facts import Inputs, compute_facts
from tools.bench.rows import Limit, Row
from tools.bench.timing import timed

_TIME_LIMIT_S = Limit("at_most", 30)
_MEMORY_LIMIT_MB = Limit("at_most", 1000)


def analysis_rows(project: Path, folder: Path) -> Iterator[Row]:
    """Yield time and memory of everything between the cells table and the report's text.

    Host and configuration are those of a project with results; `folder` holds ``cells.parquet``.
    """
    cells = read_table(folder / "cells.parquet")
    saved = yaml.safe_load((project / "results/config.yaml").read_text(encoding="utf-8"))
    (folder / "config.yaml").write_text(yaml.safe_dump(config_of(cells, saved)), encoding="utf-8")
    shutil.copy(project / "results/host.json", folder)
    templates = project / "report"
    command = [sys.executable, "-m", "tools.bench.analysis_run", str(folder), str(templates)]
    run = timed(folder, command)
    name = f"analysis, facts and text from {len(cells)} records"
    note = f"{run.cpu_s:.1f} s of CPU time"
    yield Row("workflow", name, run.wall_s, "s", limit=_TIME_LIMIT_S, note=note)
    yield Row("workflow", f"{name}, memory", run.peak_bytes / 1e6, "MB", limit=_MEMORY_LIMIT_MB)


def config_of(cells: pd.DataFrame, config: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration whose grid is that of the cells, all else as in `config`."""
    grid = {
        plural: sorted(cells[column].unique().tolist())
        for plural, column in {
            "implementations": "implementation",
            "testbeds": "testbed",
            "msg_bytes": "msg_bytes",
            "n_threads": "n_threads",
            "working_sets": "working_set",
            "receivers": "receiver",
            "placements": "placement",
        }.items()
    }
    repetitions = int(cells["rep"].max())
    nothing: dict[str, list[str]] = {"implementations": []}
    return config | {
        "streams": config["streams"] | grid,
        "udp": config["udp"] | nothing,
        "round_trips": config["round_trips"] | nothing,
        "measure": config["measure"] | {"repetitions": repetitions},
    }


def main(folder: Path, templates: Path) -> None:
    """Make summary, comparisons, facts and text of the cells table in a folder."""
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
        summary=folder / "summary.csv",
        ratios=folder / "ratios.csv",
        config=folder / "config.yaml",
        figures=[],
    )
    write_report(sources, templates, "Many cells", folder / "report.qmd")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
