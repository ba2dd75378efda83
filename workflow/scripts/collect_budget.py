from pathlib import Path

from copycost.snakefile.logs import log_to_file
from copycost.studies.cpu_budget.table import collect

log_to_file(snakemake.log[0])
table = collect(Path(path) for path in snakemake.input.records)
table.to_csv(snakemake.output.table, index=False, lineterminator="\n")
