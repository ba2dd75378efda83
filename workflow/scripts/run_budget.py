"""Measure one repetition of the study of a CPU budget and write its record."""

from pathlib import Path

from copycost.records.record import write_record
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.progress import DRIVEN, count_in, say
from copycost.snakefile.results import line_of
from copycost.snakefile.tasks import task_of
from copycost.studies.cpu_budget.repetition import measure_budget

log_to_file(snakemake.log[0])
path, settings = snakemake.output.record, snakemake.params.settings
record = measure_budget(task_of(snakemake.input, path, settings))
write_record(record, Path(path))
say(count_in(line_of(record), DRIVEN, settings))
