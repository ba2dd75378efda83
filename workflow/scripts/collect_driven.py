"""Collect the records of a CPU budget, or of datagrams, in a table."""

from pathlib import Path

from copycost.records.table import write_table
from copycost.snakefile.parts import make_part
from copycost.studies.cpu_budget import table as cpu_budget
from copycost.studies.cpu_budget.columns import CPU_BUDGET
from copycost.studies.datagrams import table as datagrams
from copycost.studies.datagrams.columns import DATAGRAMS


def _make() -> None:
    collect, columns = {
        "cpu_budget": (cpu_budget.collect, CPU_BUDGET),
        "datagrams": (datagrams.collect, DATAGRAMS),
    }[snakemake.wildcards.driven]
    table = collect(map(Path, snakemake.input.records))
    write_table(table, Path(snakemake.output.table), None, columns)


make_part(snakemake.log[0], snakemake.input, snakemake.output, _make)
