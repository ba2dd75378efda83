"""Measure one repetition of one cell and write its record."""

import json
from pathlib import Path

from copycost.config.config import Settings
from copycost.grid.cells import Cell
from copycost.measure.repetition import measure_repetition
from copycost.records.record import write_record
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.progress import say, tell

log_to_file(snakemake.log[0])
cell = Cell.from_path(snakemake.output.record)
record = measure_repetition(
    cell,
    Settings.from_params(snakemake.params.settings),
    json.loads(Path(snakemake.input.host).read_text(encoding="utf-8")),
    sender=Path(snakemake.input.sender),
    receiver=Path(snakemake.input.receiver) if snakemake.input.receiver else None,
)
write_record(record, Path(snakemake.output.record))
say(tell(cell, record))
