"""Profile one repetition of one cell: write its record and its folded stacks."""

import json
from pathlib import Path

from copycost.config.settings import Settings
from copycost.drivers.choice import driver_of
from copycost.grid.cells import Cell
from copycost.records.record import write_record
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.progress import count_in, pace_of_profile, say
from copycost.snakefile.results import line_of
from copycost.studies.profile.folded import write_folded
from copycost.studies.profile.repetition import profile_repetition

log_to_file(snakemake.log[0])
given, params = snakemake.input, snakemake.params
cell = Cell.from_path(snakemake.output.record)
peer = json.loads(Path(given.peer).read_text(encoding="utf-8")) if given.peer else None
programs = (Path(each) if each else None for each in (given.sender, given.receiver))
profiled = profile_repetition(
    cell,
    Settings.from_params(params.settings),
    json.loads(Path(given.host).read_text(encoding="utf-8")),
    driver_of(cell.implementation, *programs),
    params.event,
    params.frequency_hz,
    peer=peer,
)
write_folded(profiled.stacks, Path(snakemake.output.folded))
write_record(profiled.record, Path(snakemake.output.record))
pace = pace_of_profile(cell.implementation)
say(count_in(line_of(profiled.record), pace, params.settings))
