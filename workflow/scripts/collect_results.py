"""Collect all records of the grid in the table of cells."""

import sys
from pathlib import Path

from copycost.config.cells import RAW_ROOT
from copycost.records.reading import foreign_files
from copycost.records.table import collect_tables
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
records = [Path(path) for path in snakemake.input.records]
for sentence in foreign_files(Path(RAW_ROOT, "streams")):
    print(f"copycost: warning: {sentence}", file=sys.stderr)
collect_tables(records, Path(snakemake.output.csv), Path(snakemake.output.parquet))
