"""Measure one repetition that a driver drives, of either study, and write its record."""

from functools import partial
from pathlib import Path

from copycost.records.reading import REPETITIONS
from copycost.snakefile.describe_repetition import line_of
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.task_from_rule import task_of
from copycost.snakefile.telling import tell_result
from copycost.studies.cpu_budget import records as cpu_budget
from copycost.studies.datagrams import records as datagrams

log_to_file(snakemake.log[0])
path = Path(snakemake.output.record)
task = task_of(snakemake.input, str(path), snakemake.params.settings)
measure, row_of = {
    "cpu_budget": (cpu_budget.measure_budget, cpu_budget.row_of),
    "datagrams": (datagrams.measure_datagrams, datagrams.row_of),
}[task.cell.study]
check = partial(row_of, cell=task.cell)
record = REPETITIONS.measured(path, partial(measure, task), check)
REPETITIONS.kind.write(record, path)
tell_result(line_of(record))
