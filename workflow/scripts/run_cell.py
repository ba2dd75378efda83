"""Measure one repetition of one cell and write its record."""

from functools import partial
from pathlib import Path

from copycost.measure.repetition import measure_repetition
from copycost.measure.usable import measure_usable
from copycost.records.derive import derive_row
from copycost.records.reading import REPETITIONS
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.progress import ALONE, STREAMS, count_in, say
from copycost.snakefile.results import line_of
from copycost.snakefile.tasks import task_of
from copycost.studies.round_trips.derive import derive_round_trips

log_to_file(snakemake.log[0])
path, settings = snakemake.output.record, snakemake.params.settings
task = task_of(snakemake.input, path, settings, snakemake.params.reference)
row_of = derive_row if task.cell.study == "streams" else derive_round_trips
record = measure_usable(Path(path), partial(measure_repetition, task), row_of, REPETITIONS)
pace = STREAMS if snakemake.params.reference else ALONE
say(count_in(line_of(record), pace, settings))
