"""Measure one repetition of the study of a CPU budget and write its record."""

import json
from pathlib import Path

from copycost.config.cpu_budget import BudgetCell, BudgetSettings
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.progress import DRIVEN, count_in, say
from copycost.studies.cpu_budget.repetition import measure_budget
from copycost.studies.driven.record import write
from copycost.studies.driven.telling import line_of
from copycost.wording.plurals import plural

log_to_file(snakemake.log[0])
cell = BudgetCell.from_path(snakemake.output.record)
programs = [snakemake.input.get(side) for side in ("sender", "receiver")]
record = measure_budget(
    cell,
    BudgetSettings.from_params(snakemake.params.settings),
    json.loads(Path(snakemake.input.host).read_text(encoding="utf-8")),
    programs=tuple(Path(program) for program in programs if program),
)
write(record, Path(snakemake.output.record))
what = f"{cell.testbed} {cell.driver} {plural(cell.n_streams, 'stream')} at {cell.limit_percent} %"
line = line_of(f"{what} by {cell.limiter}", record)
say(count_in(line, DRIVEN, snakemake.params.settings))
