from pathlib import Path

from copycost.records.table import write_table
from copycost.snakefile.placeholder_outputs import made_or_left_out
from copycost.studies.profile.functions import load_categories
from copycost.studies.simulated.table import FUNCTIONS, SIMULATED, collect

with made_or_left_out(snakemake.log[0], snakemake.input, snakemake.output):
    given, out = snakemake.input, snakemake.output
    table, functions = collect(
        map(Path, given.records), load_categories(Path(given.functions).parent)
    )
    write_table(table, Path(out.table), None, SIMULATED)
    write_table(functions, Path(out.functions), None, FUNCTIONS)
