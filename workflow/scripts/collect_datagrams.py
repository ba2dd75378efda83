from pathlib import Path

from copycost.datagrams.table import collect
from copycost.logs import log_to_file

log_to_file(snakemake.log[0])
table = collect(Path(path) for path in snakemake.input.records)
table.to_csv(snakemake.output.table, index=False, lineterminator="\n")
