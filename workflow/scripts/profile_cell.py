"""Profile one repetition of one cell: write its record and its folded stacks."""

from pathlib import Path

from copycost.records.reading import REPETITIONS
from copycost.records.record import Record
from copycost.snakefile.describe_repetition import line_of
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.task_from_rule import task_of
from copycost.snakefile.telling import tell_result
from copycost.studies.profile.folded import write_folded
from copycost.studies.profile.repetition import profile_repetition
from copycost.studies.profile.runs import runs_of

log_to_file(snakemake.log[0])
output, params = snakemake.output, snakemake.params
task = task_of(snakemake.input, output.record, params.settings, params.reference)


def profile() -> Record:
    """Profile it, write its stacks, and return its record."""
    profiled = profile_repetition(task, params.event, params.frequency_hz)
    write_folded(profiled.stacks, Path(output.folded))
    return profiled.record


record = REPETITIONS.measured(Path(output.record), profile, runs_of)
REPETITIONS.kind.write(record, Path(output.record))
tell_result(line_of(record))
