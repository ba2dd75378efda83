"""Measure repetitions of one cell, one after the other on one testbed, and write their records."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from copycost.measure.held_host import locked_host
from copycost.measure.repetition import measure_repetition
from copycost.records.reading import REPETITIONS
from copycost.snakefile.describe_repetition import line_of
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.task_from_rule import task_of
from copycost.snakefile.telling import tell_result
from copycost.studies.round_trips.table import row_of_grid

log_to_file(snakemake.log[0])
path, params = snakemake.output.record, snakemake.params
task = task_of(snakemake.input, path, params.settings, params.reference)
records = []
with locked_host(task.cell.path) as held:
    for number in range(params.repetitions):
        cell = replace(task.cell, rep=task.cell.rep + number)
        measure = partial(measure_repetition, replace(task, cell=cell), held)
        records.append(REPETITIONS.measured(Path(cell.path), measure, row_of_grid))
        tell_result(line_of(records[-1]))
REPETITIONS.kind.write(records if len(records) > 1 else records[0], Path(path))
