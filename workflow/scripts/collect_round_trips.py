"""Collect all records of round trips in a table, and their distributions in another."""

import sys
from pathlib import Path

from copycost.config.cells import RAW_ROOT
from copycost.records.reading import foreign_files
from copycost.snakefile.logs import log_to_file
from copycost.studies.round_trips.table import collect_round_trips

log_to_file(snakemake.log[0])
records = [Path(path) for path in snakemake.input.records]
for sentence in foreign_files(Path(RAW_ROOT, "round_trips")):
    print(f"copycost: warning: {sentence}", file=sys.stderr)
collect_round_trips(records, Path(snakemake.output.table), Path(snakemake.output.curves))
