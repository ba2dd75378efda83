"""Collect the records of a CPU budget, or of datagrams, in a table."""

from pathlib import Path

from copycost.records.table import write_table
from copycost.snakefile.placeholder_outputs import made_or_left_out
from copycost.studies.cpu_budget import records as cpu_budget
from copycost.studies.datagrams import records as datagrams
from copycost.studies.record_table import table_of

with made_or_left_out(snakemake.log[0], snakemake.input, snakemake.output):
    row_of, columns = {
        "cpu_budget": (cpu_budget.row_of, cpu_budget.CPU_BUDGET),
        "datagrams": (datagrams.row_of, datagrams.DATAGRAMS),
    }[snakemake.wildcards.driven]
    table = table_of(map(Path, snakemake.input.records), row_of, columns)
    write_table(table, Path(snakemake.output.table), None, columns)
