"""Measure one repetition of the study of datagrams and write its record."""

import json
from pathlib import Path

from copycost.config.settings import Settings
from copycost.drivers.choice import driver_of
from copycost.grid.cells import Cell
from copycost.records.record import write_record
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.progress import DRIVEN, count_in, say
from copycost.snakefile.results import line_of
from copycost.studies.datagrams.repetition import measure_datagrams

log_to_file(snakemake.log[0])
given, settings = snakemake.input, snakemake.params.settings
cell = Cell.from_path(snakemake.output.record)
peer = json.loads(Path(given.peer).read_text(encoding="utf-8")) if given.peer else None
programs = (Path(each) if each else None for each in (given.sender, given.receiver))
record = measure_datagrams(
    cell,
    Settings.from_params(settings),
    json.loads(Path(given.host).read_text(encoding="utf-8")),
    driver_of(cell.implementation, *programs),
    peer=peer,
)
write_record(record, Path(snakemake.output.record))
say(count_in(line_of(record), DRIVEN, settings))
