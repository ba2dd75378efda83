from pathlib import Path

from copycost.records.table import write_table
from copycost.snakefile.logs import log_to_file
from copycost.studies.datagrams.columns import DATAGRAMS
from copycost.studies.datagrams.table import collect

log_to_file(snakemake.log[0])
table = collect(Path(path) for path in snakemake.input.records)
write_table(table, Path(snakemake.output.table), None, DATAGRAMS)
