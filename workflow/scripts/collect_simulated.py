from pathlib import Path

from copycost.records.table import write_table
from copycost.snakefile.logs import log_to_file
from copycost.studies.profile.functions import load_categories
from copycost.studies.simulated.columns import FUNCTIONS, SIMULATED
from copycost.studies.simulated.table import collect

log_to_file(snakemake.log[0])
given, out = snakemake.input, snakemake.output
table, functions = collect(map(Path, given.records), load_categories(Path(given.functions).parent))
write_table(table, Path(out.table), None, SIMULATED)
write_table(functions, Path(out.functions), None, FUNCTIONS)
