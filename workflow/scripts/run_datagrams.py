"""Measure one repetition of the study of datagrams and write its record."""

from functools import partial
from pathlib import Path

from copycost.measure.usable import measure_usable
from copycost.records.reading import REPETITIONS
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.progress import DRIVEN, count_in, say
from copycost.snakefile.results import line_of
from copycost.snakefile.tasks import task_of
from copycost.studies.datagrams.repetition import measure_datagrams
from copycost.studies.datagrams.table import row_of

log_to_file(snakemake.log[0])
path, settings = snakemake.output.record, snakemake.params.settings
task = task_of(snakemake.input, path, settings)
check = partial(row_of, cell=task.cell)
record = measure_usable(Path(path), partial(measure_datagrams, task), check, REPETITIONS)
say(count_in(line_of(record), DRIVEN, settings))
