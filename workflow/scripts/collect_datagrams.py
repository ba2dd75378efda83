from pathlib import Path

from copycost.records.table import write_table
from copycost.snakefile.parts import make_part
from copycost.studies.datagrams.columns import DATAGRAMS
from copycost.studies.datagrams.table import collect


def _make() -> None:
    table = collect(Path(path) for path in snakemake.input.records)
    write_table(table, Path(snakemake.output.table), None, DATAGRAMS)


make_part(snakemake.log[0], snakemake.input, snakemake.output, _make)
