from pathlib import Path

from copycost.records.table import write_table
from copycost.snakefile.parts import make_part
from copycost.studies.profile.functions import load_categories
from copycost.studies.simulated.table import FUNCTIONS, SIMULATED, collect


def _make() -> None:
    given, out = snakemake.input, snakemake.output
    table, functions = collect(
        map(Path, given.records), load_categories(Path(given.functions).parent)
    )
    write_table(table, Path(out.table), None, SIMULATED)
    write_table(functions, Path(out.functions), None, FUNCTIONS)


make_part(snakemake.log[0], snakemake.input, snakemake.output, _make)
